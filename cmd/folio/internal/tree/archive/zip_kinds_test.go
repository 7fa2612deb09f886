package archive

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"io/fs"
	"testing"

	"github.com/klauspost/compress/zstd"

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

// Entries may be packed by bzip2 and zstd. Damaged ones are an error.
func TestZipMethods(t *testing.T) {
	t.Parallel()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	bzip2, err := base64.StdEncoding.DecodeString("QlpoOTFBWSZTWRkxZT0AAACBAAJEoAAhmmgzTQczi7kinChIDJiynoA=") // of "hello"
	if err != nil {
		t.Fatal(err)
	}
	for method, packed := range map[uint16][]byte{zipBzip2: bzip2, zipZstd: z.EncodeAll([]byte("hello"), nil)} {
		lines, err := collectData(t, packedZip(t, method, packed, "hello"), false)
		if err != nil {
			t.Fatalf("method %d: %v", method, err)
		}
		treetest.WantLines(t, lines, []string{`f -rw-rw-rw- "hello"`})
		for i := range packed {
			damaged := bytes.Clone(packed)
			damaged[i] ^= 0x10
			if lines, err := collectData(t, packedZip(t, method, damaged, "hello"), false); err == nil {
				treetest.WantLines(t, lines, []string{`f -rw-rw-rw- "hello"`})
			}
			if lines, err := collectData(t, packedZip(t, method, packed[:i], "hello"), false); err == nil {
				t.Errorf("method %d, %d of %d bytes: %q", method, i, len(packed), lines)
			}
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
