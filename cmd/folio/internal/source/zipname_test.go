package source

import (
	"archive/zip"
	"encoding/binary"
	"hash/crc32"
	"io/fs"
	"testing"
)

// Names without the mark of UTF-8 are in the code page 437, as Python's zipfile reads them, unless
// they are UTF-8 all the same, or in a field of their own.
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
	ours := old("raw\x82")
	ours.Extra = new(ZipField).Append(nil)
	link := zipEntry("link", 0o777|fs.ModeSymlink, "\x9abung/stra\xe1e.txt")
	lines, err := collectData(t, makeZip(t,
		old("\x9abung/stra\xe1e.txt"), old("\xab\xff.txt"), old("naïve"), unicode, stale, ours, link,
	), false)
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, lines, []string{
		"link Lrwxrwxrwx -> Übung/straße.txt",
		`naïve -rw-rw-rw- ""`,
		"raw\x82 -rw-rw-rw- \"\"",
		`staleé -rw-rw-rw- ""`,
		"½\u00a0.txt -rw-rw-rw- \"\"",
		`Übung/straße.txt -rw-rw-rw- ""`,
		`日. -rw-rw-rw- ""`,
	})
}
