package archive

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

// A zipped is an entry of a zip archive to be.
type zipped struct {
	zip.FileHeader
	mode    fs.FileMode
	content string
}

func zipEntry(name string, mode fs.FileMode, content string) zipped {
	return zipped{zip.FileHeader{Name: name, Method: zip.Deflate}, mode, content}
}

func makeZip(t testing.TB, entries ...zipped) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		if e.mode != 0 {
			e.SetMode(e.mode)
		}
		f, err := w.CreateHeader(&e.FileHeader)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestZipKinds(t *testing.T) {
	t.Parallel()
	stored := zipEntry("z", 0o600, "stored")
	stored.Method = zip.Store
	lines, err := collectData(t, makeZip(t,
		stored,
		zipEntry("d/f", 0o4755|fs.ModeSetuid, "hello"),
		zipEntry("d-x", 0o640, strings.Repeat("y", tree.SmallSize+5)),
		zipEntry("d/", 0o700|fs.ModeDir, ""),
		zipEntry("l", 0o777|fs.ModeSymlink, "../out"),
		zipEntry(`un\ix`, 0o644, ""),
	), false)
	if err != nil {
		t.Fatal(err)
	}
	treetest.WantLines(t, lines, []string{
		"d drwx------",
		`d/f urwxr-xr-x "hello"`,
		`d-x -rw-r----- 1048581x"y"`,
		"l Lrwxrwxrwx -> ../out",
		`un\ix -rw-r--r-- ""`,
		`z -rw------- "stored"`,
	})
}

func TestZipEmpty(t *testing.T) {
	t.Parallel()
	lines, err := collectData(t, makeZip(t), false)
	if err != nil || len(lines) != 0 {
		t.Errorf("%q, %v", lines, err)
	}
}

// A zip archive may follow a program that unpacks it.
func TestZipSelfExtracting(t *testing.T) {
	t.Parallel()
	data := append([]byte("#!/bin/sh\n"+strings.Repeat("#", 600)+"\n"), makeZip(t, zipEntry("a", 0o644, "x"))...)
	lines, err := collectData(t, data, false)
	if err != nil || len(lines) != 1 {
		t.Errorf("%q, %v", lines, err)
	}
}

func TestZipOwnerAndTime(t *testing.T) {
	t.Parallel()
	e := zipEntry("a", 0o644, "")
	e.Modified = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	e.Extra = []byte{0x75, 0x78, 11, 0, 1, 4, 0x70, 0x11, 1, 0, 4, 5, 0, 0, 0}
	src, err := open(t, makeZip(t, e))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	err = src.Walk(t.Context(), func(got *tree.Entry) error {
		if got.UID != 70000 || got.GID != 5 || !got.ModTime.Equal(e.Modified) {
			t.Errorf("owner %d:%d, time %v", got.UID, got.GID, got.ModTime)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestZipHostile(t *testing.T) {
	t.Parallel()
	encrypted := zipEntry("secret", 0o644, "")
	encrypted.Flags = zipEncrypted
	tests := []struct {
		name string
		bad  zipped
		want error
	}{
		{"absolute and up", zipEntry("/etc/../passwd", 0o644, "x"), tree.ErrName},
		{"up", zipEntry("../x", 0o644, "x"), tree.ErrName},
		{"NUL", zipEntry("a\x00b", 0o644, "x"), tree.ErrName},
		{"backslash", zipEntry(`..\x`, 0, "x"), tree.ErrName},
		{"empty", zipEntry("", 0o644, ""), tree.ErrName},
		{"long target", zipEntry("l", 0o777|fs.ModeSymlink, strings.Repeat("x", maxTarget+1)), tree.ErrTarget},
		{"device", zipEntry("d", 0o666|fs.ModeDevice, ""), tree.ErrType},
		{"encrypted", encrypted, tree.ErrEncrypted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lines, err := collectData(t, makeZip(t, zipEntry("ok", 0o644, ""), tt.bad), false)
			if e, ok := errors.AsType[*tree.EntryError](err); !ok || !errors.Is(err, tt.want) || e.Name != tt.bad.Name {
				t.Errorf("got %v after %q, want %v", err, lines, tt.want)
			}
		})
	}
}

func TestZipPipe(t *testing.T) {
	t.Parallel()
	if _, err := collectData(t, makeZip(t, zipEntry("a", 0o644, "")), true); !errors.Is(err, tree.ErrSeek) {
		t.Errorf("got %v", err)
	}
}

// directory returns where the central directory of an archive of one entry begins.
func directory(t *testing.T, data []byte) int {
	t.Helper()
	i := bytes.Index(data, []byte("PK\x01\x02"))
	if i < 0 {
		t.Fatal("no central directory")
	}
	return i
}

func TestZipLies(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("x", 1000)
	tests := []struct {
		name   string
		offset int // in the central directory, of a number of 4 bytes
		number uint32
		want   []error
	}{
		{"checksum", 16, 12345, []error{tree.ErrChecksum}},
		{"smaller", 24, 10, []error{tree.ErrChecksum, tree.ErrDamaged}},
		{"larger", 24, 2000, []error{tree.ErrTruncated, tree.ErrDamaged}},
		{"huge", 24, 0xfffffffe, []error{tree.ErrTruncated, tree.ErrDamaged}},
		{"packed more", 20, 0x7fffffff, []error{tree.ErrOverlap}},
		{"method", 10, 99, []error{tree.ErrMethod}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			data := makeZip(t, zipEntry("a", 0o644, content))
			at := data[directory(t, data)+tt.offset:]
			if tt.name == "method" {
				binary.LittleEndian.PutUint16(at, uint16(tt.number))
			} else {
				binary.LittleEndian.PutUint32(at, tt.number)
			}
			_, err := collectData(t, data, false)
			ok := false
			for _, want := range tt.want {
				ok = ok || errors.Is(err, want)
			}
			if !ok {
				t.Errorf("got %v, want one of %v", err, tt.want)
			}
		})
	}
}

func TestZipTruncated(t *testing.T) {
	t.Parallel()
	data := makeZip(t, zipEntry("a", 0o644, "hello"), zipEntry("b", 0o644, strings.Repeat("world", 100)))
	for n := 1; n < len(data); n++ {
		if lines, err := collectData(t, data[:n], false); err == nil {
			t.Errorf("%d of %d bytes: %q", n, len(data), lines)
		}
	}
}

// Any bytes whatever give entries or an error.
func FuzzZip(f *testing.F) {
	f.Add(makeZip(f, zipEntry("d/", 0o700|fs.ModeDir, ""), zipEntry("d/f", 0o644, "hello"), zipEntry("l", 0o777|fs.ModeSymlink, "d")))
	f.Fuzz(func(t *testing.T, data []byte) {
		src, err := open(t, data)
		if err != nil {
			return
		}
		if z, ok := src.(*zipSource); ok {
			z.o.MaxSize = 64 << 20
		}
		_, _ = treetest.Collect(src)
	})
}
