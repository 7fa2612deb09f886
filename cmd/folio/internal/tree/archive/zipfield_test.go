package archive

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

func TestZipField(t *testing.T) {
	t.Parallel()
	other := []byte{0x46, 0x4f, 2, 0, 'n', 'o'} // the same id, of another program
	for _, want := range []zipField{
		{},
		{Mtime: math.MaxInt64, Atime: math.MinInt64, Ctime: -1},
		{Mtime: 7, Link: strings.Repeat("long/", 800) + "\xff"},
		{Xattrs: map[string][]byte{"user.empty": {}, "user.binary": {0, 0xff}, "user.large": bytes.Repeat([]byte("v"), 60000)}},
	} {
		p := want.Append(other)
		if len(p)-len(other) > want.Size()+4 {
			t.Errorf("%d bytes, more than %d", len(p)-len(other), want.Size()+4)
		}
		got, ok := readZipField(p)
		if !ok || !maps.EqualFunc(got.Xattrs, want.Xattrs, bytes.Equal) {
			t.Errorf("%v: %+v, want %+v", ok, got, want)
		}
		if got.Mtime != want.Mtime || got.Atime != want.Atime || got.Ctime != want.Ctime || got.Link != want.Link {
			t.Errorf("%+v, want %+v", got, want)
		}
		for n := range min(len(p), 200) {
			if _, ok := readZipField(p[:n]); ok {
				t.Errorf("cut to %d bytes: still a field", n)
			}
		}
	}
	if f, ok := readZipField((&zipField{Xattrs: map[string][]byte{"system.x": nil}}).Append(nil)); !ok || f.Xattrs != nil {
		t.Errorf("%v: %q", ok, f.Xattrs)
	}
}

// linked is an entry that says that it is another name of a file.
func linked(name, content, link string) zipped {
	e := zipEntry(name, 0o644, content)
	e.Modified = time.Unix(1000, 0)
	e.Extra = (&zipField{Mtime: 1000_000_000_123, Link: link}).Append(nil)
	return e
}

// An entry is another name of an earlier one if it says so and has the same content. Any other is a
// file of its own.
func TestZipLinks(t *testing.T) {
	t.Parallel()
	data := makeZip(t, linked("a", "one", ""), linked("b", "one", "a"), linked("c", "two", "a"), linked("d", "one", "none"),
		linked("e", "one", "none"), linked("f", "one", "z"), linked("g", "", "h"), zipEntry("h/", 0o700|fs.ModeDir, ""),
		linked("i", "one", "i"), linked("z", "one", ""))
	lines, err := collectData(t, data, false)
	if err != nil {
		t.Fatal(err)
	}
	treetest.WantLines(t, lines, []string{
		`a -rw-r--r-- "one"`, "b == a", `c -rw-r--r-- "two"`, `d -rw-r--r-- "one"`, "e == d", `f -rw-r--r-- "one"`, `g -rw-r--r-- ""`,
		"h drwx------", `i -rw-r--r-- "one"`, `z -rw-r--r-- "one"`,
	})
	src, err := open(t, data)
	if err != nil {
		t.Fatal(err)
	}
	src.(*zipSource).o.Exclude = tree.Exclude{"a", "d"}
	if lines, err = treetest.Collect(src); err != nil {
		t.Fatal(err)
	}
	treetest.WantLines(t, lines[:4], []string{`b -rw-r--r-- "one"`, `c -rw-r--r-- "two"`, `e -rw-r--r-- "one"`, `f -rw-r--r-- "one"`})
}

// Two contents with one checksum are two files, whatever the archive says.
func TestZipLinkChecksum(t *testing.T) {
	t.Parallel()
	a, b := sameChecksum()
	lines, err := collectData(t, makeZip(t, linked("a", a, ""), linked("b", b, "a")), false)
	if err != nil {
		t.Fatal(err)
	}
	treetest.WantLines(t, lines, []string{fmt.Sprintf("a -rw-r--r-- %q", a), fmt.Sprintf("b -rw-r--r-- %q", b)})
}

// sameChecksum returns two texts with the same CRC-32.
func sameChecksum() (a, b string) {
	seen := make(map[uint32]string)
	for i := 0; ; i++ {
		text := fmt.Sprintf("%08x%08x", uint32(i)*0x9e3779b1, i)
		sum := crc32.ChecksumIEEE([]byte(text))
		if seen[sum] != "" {
			return seen[sum], text
		}
		seen[sum] = text
	}
}

// The times of the field count as long as the time that zip knows is the same.
func TestZipFieldTimes(t *testing.T) {
	t.Parallel()
	touched := linked("touched", "", "")
	touched.Modified = time.Unix(2000, 0)
	src, err := open(t, makeZip(t, linked("exact", "", ""), touched))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	want := map[string]int64{"exact": 1000_000_000_123, "touched": 2000_000_000_000}
	err = src.Walk(t.Context(), func(e *tree.Entry) error {
		if got := e.ModTime.UnixNano(); got != want[e.Name] {
			t.Errorf("%s: %d, want %d", e.Name, got, want[e.Name])
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
