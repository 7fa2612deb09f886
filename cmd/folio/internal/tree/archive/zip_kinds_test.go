package archive

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"testing"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

// Names that begin with a slash are those of files below the root.
func TestAbsoluteNames(t *testing.T) {
	t.Parallel()
	for kind, data := range map[string][]byte{
		"tar": makeTar(t, dirMember("/"), dirMember("/d"), file("//d/f", "x"), hardLink("/l", "/d/f")),
		"zip": makeZip(t, zipEntry("/d/", 0o755|fs.ModeDir, ""), zipEntry("/d/f", 0o644, "x")),
	} {
		lines, err := collectData(t, data, false)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		want := []string{"d drwxr-xr-x", `d/f -rw-r--r-- "x"`}
		if kind == "tar" {
			want = []string{". drwxr-xr-x", "d drwxr-xr-x", `d/f -rw-r--r-- "x"`, "l == d/f"}
		}
		treetest.WantLines(t, lines, want)
	}
}

// A block of zeros alone does not end a tar archive.
func TestTarLoneZeros(t *testing.T) {
	t.Parallel()
	first, second := makeTar(t, file("a", "hello")), makeTar(t, file("b", "world"), file("c", ""))
	data := append(bytes.Clone(first[:len(first)-512]), second...)
	for _, stream := range []bool{false, true} {
		lines, err := collectData(t, data, stream)
		if err != nil {
			t.Fatal(err)
		}
		treetest.WantLines(t, lines, []string{`a -rw-r--r-- "hello"`, `b -rw-r--r-- "world"`, `c -rw-r--r-- ""`})
	}
	garbage := append(bytes.Clone(first[:len(first)-512]), bytes.Repeat([]byte("x"), 1024)...)
	if lines, err := collectData(t, garbage, false); err == nil {
		t.Errorf("zeros and then no header: %q", lines)
	}
}

// packedZip returns a zip archive of one file, whose content is packed already.
func packedZip(t *testing.T, method uint16, packed []byte, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.CreateRaw(&zip.FileHeader{
		Name: "f", Method: method, CRC32: crc32.ChecksumIEEE([]byte(content)),
		CompressedSize64: uint64(len(packed)), UncompressedSize64: uint64(len(content)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = f.Write(packed); err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An entry that is packed by another method than deflate is refused, and the error says so.
func TestZipMethods(t *testing.T) {
	t.Parallel()
	const bzip2, zstd = 12, 93
	for _, method := range []uint16{bzip2, zstd} {
		if _, err := collectData(t, packedZip(t, method, []byte("packed"), "hello"), false); !errors.Is(err, tree.ErrMethod) {
			t.Errorf("method %d: %v", method, err)
		}
	}
}

// A directory may appear twice, lack the attribute of one, and standard input is a file for zip.
func TestZipOddities(t *testing.T) {
	t.Parallel()
	plain := makeZip(t, zipEntry("d/", 0, ""), zipEntry("d/f", 0o644, "x"))
	lines, err := collectData(t, plain, false)
	if err != nil {
		t.Fatal(err)
	}
	treetest.WantLines(t, lines, []string{"d drwxrwxrwx", `d/f -rw-r--r-- "x"`})

	lines, err = collectData(t, makeZip(t, zipEntry("d/", 0o700|fs.ModeDir, ""), zipEntry("d/f", 0o644, "x"), zipEntry("d/", 0o750|fs.ModeDir, "")), false)
	if err != nil {
		t.Fatal(err)
	}
	treetest.WantLines(t, lines, []string{"d drwxr-x---", `d/f -rw-r--r-- "x"`})

	input := makeZip(t, zipEntry("-", 0o600, "x"))
	at := input[directory(t, input)+38:]
	binary.LittleEndian.PutUint32(at, 0o010600<<16)
	lines, err = collectData(t, input, false)
	if err != nil {
		t.Fatal(err)
	}
	treetest.WantLines(t, lines, []string{`- -rw------- "x"`})
}
