package sqlitefile

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/format"
)

// FuzzDatabase damages a seed as its input says, and reads it in every way. Nothing may panic; and
// where Check finds nothing wrong, every row must be read without an error, and be found.
//
// The input is a byte that chooses the seed and the way to open it, and then steps of stepSize
// bytes (see step).
func FuzzDatabase(f *testing.F) {
	images := make([]dbImage, len(seeds))
	for i, s := range seeds {
		images[i] = s.image(f)
		f.Add([]byte{byte(i)})
		f.Add([]byte{byte(i) | 0x80})
	}
	for kind := range byte(len(steps)) {
		f.Add([]byte{kind % 3, kind, kind, 1, 0, 3, 2, kind, 2, 2, 1, 0, 1})
	}
	path := filepath.Join(f.TempDir(), "fuzz.db")
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) == 0 || len(program) > 1+20*stepSize {
			return
		}
		m := slices.Clone(images[int(program[0]&0x7f)%len(images)])
		for p := program[1:]; len(p) >= stepSize; p = p[stepSize:] {
			m = m.step(p)
		}
		if err := os.WriteFile(path, m, 0o600); err != nil {
			t.Fatal(err)
		}
		readDamaged(t, path, &Options{NoMmap: program[0]&0x80 != 0})
	})
}

// readDamaged opens, reads and checks a database, whatever it is. It returns the report, or nil if
// it cannot be opened.
func readDamaged(tb testing.TB, path string, o *Options) *CheckReport {
	tb.Helper()
	db, err := Open(path, o)
	if err != nil {
		checkOpenError(tb, err)
		return nil
	}
	defer db.Close()
	r, err := db.Check(context.Background(), nil)
	if err != nil {
		tb.Fatalf("Check: %v", err)
	}
	err = db.View(context.Background(), func(rx *Rx) error {
		e := newExercise(rx)
		e.sound, e.skip = r.OK(), make(map[string]bool)
		for _, u := range r.Unchecked {
			name, _, _ := strings.Cut(u, ": ")
			e.skip[name] = true
		}
		err := e.run()
		for _, f := range e.faults {
			tb.Errorf("Check finds nothing, but %s", f)
		}
		return err
	})
	if err != nil {
		checkReadError(tb, err)
	}
	return r
}

func checkOpenError(tb testing.TB, err error) {
	tb.Helper()
	if !errors.Is(err, ErrNotDatabase) && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
		tb.Errorf("Open: %v", err)
	}
}

// checkReadError wants errors that say what they are about.
func checkReadError(tb testing.TB, err error) {
	tb.Helper()
	for _, known := range []error{ErrCorrupt, ErrUnsupported, ErrNoTable, ErrNoIndex, errBudget} {
		if errors.Is(err, known) {
			return
		}
	}
	tb.Errorf("an error of no known kind: %v", err)
}

// stepSize is the length of a step: its kind, a page, a place in the page, and a value.
const stepSize = 6

// headerFields are the offsets of the words of the header.
var headerFields = []int{24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 92, 96, 16, 20}

// values are worth trying wherever a number stands.
var values = []uint32{0, 1, 2, 3, 4, 5, 0x7f, 0x80, 0xff, 0x100, 511, 512, 0x7fff, 0xffff, 1 << 30, 1<<31 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1}

// steps are the kinds of damage. The image, which they may change, has at least one page; pgno is
// one of its pages, at and v are whatever the step says.
var steps = []func(m dbImage, pgno uint32, at int, v uint16){
	func(m dbImage, pgno uint32, at int, v uint16) { m.at(pgno, at)[0] = byte(v) },
	func(m dbImage, pgno uint32, at int, v uint16) { put16(m.at(pgno, at), int(v)) },
	func(m dbImage, pgno uint32, at int, v uint16) { put32(m.at(pgno, at), tailValue(v)) },
	func(m dbImage, pgno uint32, at int, v uint16) { put32(m.at(pgno, at), m.pgno(v)) },
	func(m dbImage, _ uint32, at int, v uint16) { m.set32(headerFields[at%len(headerFields)], tailValue(v)) },
	func(m dbImage, _ uint32, at int, v uint16) { m.set32(headerFields[at%len(headerFields)], uint32(v)) },
	func(m dbImage, _ uint32, at int, v uint16) { m[16+at%8] = byte(v) },
	func(m dbImage, pgno uint32, at int, v uint16) { m.nodeField(pgno, at, v) },
	func(m dbImage, pgno uint32, at int, v uint16) { put16(m.anyPointer(pgno, at), int(v)) },
	func(m dbImage, pgno uint32, at int, v uint16) {
		copy(m.anyPointer(pgno, at)[:2], m.anyPointer(pgno, int(v)))
	},
	func(m dbImage, pgno uint32, at int, v uint16) { m.anyCell(pgno, at)[v>>8&0x0f] = byte(v) },
	func(m dbImage, pgno uint32, at int, v uint16) { put32(m.anyCell(pgno, at), m.pgno(v)) },
	func(m dbImage, pgno uint32, at int, v uint16) {
		format.PutVarint(m.anyCell(pgno, at), 1<<(v%64)-uint64(v>>8&1))
	},
	func(m dbImage, pgno uint32, at int, v uint16) { m.endCell(pgno, at, v) },
	func(m dbImage, pgno uint32, _ int, v uint16) { copy(m.at(pgno, 0), m.at(m.pgno(v), 0)) },
	func(m dbImage, pgno uint32, at int, v uint16) { m.swapCells(pgno, at, int(v)) },
	func(m dbImage, pgno uint32, at int, v uint16) { copy(m.at(pgno, at)[:4+v>>12], m.at(pgno, int(v))) },
	func(m dbImage, pgno uint32, at int, v uint16) { m.anyCell(pgno, at)[2+v>>8&0x0f] += byte(v) },
}

// step damages the image as p says. Two kinds of steps change its length.
func (m dbImage) step(p []byte) dbImage {
	if h, what := format.ParseHeader(m); what != "" || len(m) < h.PageSize {
		return m // an earlier step has spoilt the header
	}
	kind := int(p[0]) % (len(steps) + 2)
	at, v := offsetAt(p[2:]), binary.BigEndian.Uint16(p[4:])
	switch kind {
	case len(steps):
		return m[:min(len(m), 512+at)]
	case len(steps) + 1:
		m = append(m, make([]byte, at%4096)...)
		m.set32(28, uint32(len(m)/m.header().PageSize))
		return m
	}
	steps[kind](m, m.pgno(uint16(p[1])), at, v)
	return m
}

func tailValue(v uint16) uint32 { return values[int(v)%len(values)] }

// pgno returns a page of the image.
func (m dbImage) pgno(v uint16) uint32 { return uint32(int(v)%(len(m)/m.header().PageSize)) + 1 }

// at returns the bytes of a page from about offset at on, at least 32.
func (m dbImage) at(pgno uint32, at int) []byte {
	page := m.page(pgno)
	return page[at%(len(page)-32):]
}

// nodeField sets a field of the header of a b-tree page.
func (m dbImage) nodeField(pgno uint32, at int, v uint16) {
	b := m.page(pgno)[format.PageHeaderAt(pgno):]
	switch at % 6 {
	case 0:
		b[0] = []byte{2, 5, 10, 13, byte(v)}[v%5]
	case 1:
		put16(b[1:], int(v))
	case 2:
		put16(b[3:], int(v%64))
	case 3:
		put16(b[5:], int(v))
	case 4:
		b[7] = byte(v)
	case 5:
		put32(b[8:], m.pgno(v))
	}
}

// anyPointer returns the offset of a cell of a b-tree page.
func (m dbImage) anyPointer(pgno uint32, i int) []byte {
	h, _ := m.node(pgno)
	return m.pointer(pgno, i%(min(h.Cells, 100)+1))
}

// anyCell returns a cell, at least 32 bytes.
func (m dbImage) anyCell(pgno uint32, i int) []byte {
	return m.at(pgno, offsetAt(m.anyPointer(pgno, i)))
}

// endCell changes the overflow page of a cell that has one.
func (m dbImage) endCell(pgno uint32, i int, v uint16) {
	h, _ := m.node(pgno)
	if !h.Kind.Valid() {
		return
	}
	off := offsetAt(m.anyPointer(pgno, i))
	c, ok := format.ParseCell(m.page(pgno), h.Kind, format.SpillOf(h.Kind, m.usable()), off)
	if ok && c.Overflow != 0 {
		put32(m.page(pgno)[off+c.Size-4:], m.pgno(v))
	}
}

func (m dbImage) swapCells(pgno uint32, i, j int) {
	a, b := m.anyPointer(pgno, i), m.anyPointer(pgno, j)
	x, y := offsetAt(a), offsetAt(b)
	put16(a, y)
	put16(b, x)
}
