package archive

import (
	"archive/zip"
	"encoding/binary"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

// Names without the mark of UTF-8 are in the code page 437, as Python's zipfile reads them, unless
// they are UTF-8 all the same, are in a field of their own, or were made on Unix: those are bytes.
func TestZipNames(t *testing.T) {
	t.Parallel()
	// Of MS-DOS, which has no modes.
	old := func(name string) zipped {
		return zipped{FileHeader: zip.FileHeader{Name: name, NonUTF8: true}}
	}
	unicode := old("caf\x82")
	unicode.Extra = binary.LittleEndian.AppendUint16(nil, zipUnicodePath)
	unicode.Extra = append(unicode.Extra, 5+4, 0, 1)
	unicode.Extra = binary.LittleEndian.AppendUint32(unicode.Extra, crc32.ChecksumIEEE([]byte(unicode.Name)))
	unicode.Extra = append(unicode.Extra, "日.."[:4]...)
	stale := old("stale\x82")
	stale.Extra = append(unicode.Extra[:len(unicode.Extra):len(unicode.Extra)], 0)
	ours, link := zipEntry("raw\x82", 0o644, ""), zipEntry("link", 0o777|fs.ModeSymlink, "\x9abung/stra\xe1e.txt")
	lines, err := collectData(t, makeZip(t,
		old("\x9abung/stra\xe1e.txt"), old("\xab\xff.txt"), old("naïve"), unicode, stale, ours, link,
	), false)
	if err != nil {
		t.Fatal(err)
	}
	treetest.WantLines(t, lines, []string{
		"link Lrwxrwxrwx -> \x9abung/stra\xe1e.txt",
		`naïve -rw-rw-rw- ""`,
		"raw\x82 -rw-r--r-- \"\"",
		`staleé -rw-rw-rw- ""`,
		"½\u00a0.txt -rw-rw-rw- \"\"",
		`Übung/straße.txt -rw-rw-rw- ""`,
		`日. -rw-rw-rw- ""`,
	})
}

// Entries without a mode get that of a new file, and any other keeps its own.
func TestZipUmask(t *testing.T) {
	t.Parallel()
	entry := func(name string, creator uint16, attrs uint32) zipped {
		return zipped{FileHeader: zip.FileHeader{Name: name, CreatorVersion: creator << 8, ExternalAttrs: attrs}}
	}
	data := makeZip(t,
		entry("dos", 0, 0), entry("dos-dir/", 0, 0x10), entry("dos-readonly", 0, 1), entry("ntfs", 11, 0), entry("os2", 6, 0), entry("os2-dir/", 6, 0),
		entry("unix", creatorUnix, 0o100666<<16), entry("unix-dir/", creatorUnix, 0o40777<<16), entry("unix-none", creatorUnix, 0o100000<<16),
		entry("unix-without", creatorUnix, 0),
	)
	name := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := Open(name, nil, &tree.Options{Umask: 0o027})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := treetest.Collect(src)
	if err != nil {
		t.Fatal(err)
	}
	treetest.WantLines(t, lines, []string{
		`dos -rw-r----- ""`, "dos-dir drwxr-x---", `dos-readonly -r--r----- ""`, `ntfs -rw-r----- ""`, `os2 -rw-r----- ""`, "os2-dir drwxr-x---",
		`unix -rw-rw-rw- ""`, "unix-dir drwxrwxrwx", `unix-none ---------- ""`, `unix-without -rw-r----- ""`,
	})
}
