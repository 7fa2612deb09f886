package format

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the comments of golden files and the seeds of fuzz targets")

// golden lists the golden files. Their bytes are SQLite's, made by testdata/make.sh. The comments
// next to them show the decoded bytes. A lister fails the test if our encoders make other bytes of
// the same values.
var golden = []struct {
	name  string
	title string
	list  func(l *listing)
}{
	{"header", "The header of a WAL-mode database of 64 KiB pages with everything in it set.", (*listing).dbHeader},
	{"tree", "A table, with its index: b-trees of two levels.", (*listing).database},
	{"records", "A record of every serial type.", (*listing).database},
	{"wide", "A record of 130 values: its header's length takes two bytes.", (*listing).database},
	{"overflow", "Cells to either side of each overflow threshold, in a table and in an index.", (*listing).database},
	{"freelist", "A freelist of two trunk pages.", (*listing).database},
	{"ptrmap", "An incremental-vacuum database: pointers of all five types.", (*listing).database},
	{"wal", "A log that began anew, by a little-endian machine.", (*listing).wal},
	{"wal-be", "A log that began anew, by a big-endian machine.", (*listing).wal},
	{"walindex", "The index of wal.golden.", func(l *listing) { l.walIndex(false) }},
	{"walindex-be", "The index of wal-be.golden.", func(l *listing) { l.walIndex(true) }},
	{"journal", "A rollback journal of several segments; the last is not on disk yet.", (*listing).journal},
	{"super", "A journal that names a super-journal, by a machine with signed characters.", (*listing).journal},
	{"super-be", "A journal that names a super-journal, by a machine with unsigned characters.", (*listing).journal},
}

func TestGolden(t *testing.T) {
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			file := filepath.Join("testdata", g.name+".golden")
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			l := &listing{t: t, b: goldenBytes(t, g.name)}
			l.head("%s", g.title)
			g.list(l)
			got := l.finish()
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if line, differ := firstDifference(got, want); differ {
				t.Errorf("%s differs from what the decoders say, first in line %d:\n%s", file, line, lineOf(got, line))
			}
		})
	}
}

func firstDifference(a, b []byte) (line int, differ bool) {
	as, bs := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(as), len(bs)) {
		if !bytes.Equal(as[i], bs[i]) {
			return i + 1, true
		}
	}
	return min(len(as), len(bs)), len(as) != len(bs)
}

func lineOf(b []byte, line int) []byte { return bytes.Split(b, []byte("\n"))[line-1] }

// goldenBytes returns the bytes in a golden file. Each line is an offset, bytes in hexadecimal, and
// a comment after a number sign; an asterisk stands for the line before it, again and again up to
// the next offset.
func goldenBytes(tb testing.TB, name string) (b []byte) {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".golden"))
	if err != nil {
		tb.Fatal(err)
	}
	var row []byte
	fold := false
	for line := range strings.Lines(string(text)) {
		data, _, _ := strings.Cut(line, "#")
		fields := strings.Fields(data)
		if len(fields) == 0 {
			continue
		}
		if fields[0] == "*" {
			fold = true
			continue
		}
		off, err := strconv.ParseInt(fields[0], 16, 32)
		if err != nil {
			tb.Fatalf("%s.golden: %v", name, err)
		}
		for fold && len(b) < int(off) {
			b = append(b, row...)
		}
		if len(b) != int(off) {
			tb.Fatalf("%s.golden: offset %#x after %#x bytes", name, off, len(b))
		}
		fold = false
		if row, err = hex.DecodeString(strings.Join(fields[1:], "")); err != nil {
			tb.Fatalf("%s.golden: %v", name, err)
		}
		b = append(b, row...)
	}
	return b
}

// A listing is a golden file in the making.
type listing struct {
	t   *testing.T
	b   []byte // all bytes
	at  int    // those before at are listed
	out bytes.Buffer
}

// head writes a line of comment.
func (l *listing) head(format string, args ...any) {
	fmt.Fprintln(&l.out, strings.TrimSpace("# "+fmt.Sprintf(format, args...)))
}

// take lists the next n bytes as one field, and returns them.
func (l *listing) take(n int, format string, args ...any) []byte {
	l.t.Helper()
	if n < 0 || n > len(l.b)-l.at {
		l.t.Fatalf("a field of %d bytes at offset %#x of %#x: %s", n, l.at, len(l.b), fmt.Sprintf(format, args...))
	}
	field := l.b[l.at : l.at+n]
	comment := fmt.Sprintf(format, args...)
	var last []byte
	folded := false
	for row := range slices.Chunk(field, 16) {
		if bytes.Equal(row, last) {
			if !folded {
				l.out.WriteString("*\n")
			}
			folded = true
		} else {
			if comment != "" {
				fmt.Fprintf(&l.out, "%06x %-47s  # %s\n", l.at, fmt.Sprintf("% x", row), comment)
			} else {
				fmt.Fprintf(&l.out, "%06x % x\n", l.at, row)
			}
			folded, comment = false, ""
		}
		last = row
		l.at += len(row)
	}
	return field
}

// u16 and u32 list a field that is a big-endian number, and return it. Its value stands in the
// comment.
func (l *listing) u16(what string) int { return int(l.number(2, what)) }

func (l *listing) u32(what string) uint32 { return uint32(l.number(4, what)) }

func (l *listing) number(n int, what string) (v uint64) {
	l.t.Helper()
	for _, c := range l.b[l.at:min(l.at+n, len(l.b))] {
		v = v<<8 | uint64(c)
	}
	l.take(n, "%s %d", what, v)
	return v
}

// rest lists all bytes up to the given offset, if there are any.
func (l *listing) rest(end int, what string) {
	if end > l.at {
		l.take(end-l.at, "%s", what)
	}
}

// same fails the test if our encoded bytes differ from those that SQLite wrote.
func (l *listing) same(what string, got, want []byte) {
	l.t.Helper()
	if !bytes.Equal(got, want) {
		l.t.Errorf("%s encoded anew:\n got % x\nwant % x", what, got, want)
	}
}

// finish returns the text. All bytes must be listed.
func (l *listing) finish() []byte {
	if l.at != len(l.b) {
		l.t.Errorf("bytes from %#x to %#x are not listed", l.at, len(l.b))
	}
	fmt.Fprintf(&l.out, "%06x\n", l.at)
	return l.out.Bytes()
}
