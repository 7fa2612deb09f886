package journal

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/memfs"
)

const pageSize = 512

// pages are a database in memory.
type pages [][]byte

func (p pages) WholePage(pgno uint32) ([]byte, error) { return p[pgno-1], nil }

func (p pages) count() uint32 { return uint32(len(p)) }

// newDatabase returns a database of three pages, and what is in them. Calls counts syncs.
func newDatabase(t *testing.T, durable bool) (d *Database, file osfile.Handle, p pages, calls *int) {
	t.Helper()
	fsys := memfs.New()
	file, err := fsys.Open("a.db", osfile.ReadWrite|osfile.Create, 0)
	if err != nil {
		t.Fatal(err)
	}
	h := format.Header{PageSize: pageSize, ChangeCounter: 5, PageCount: 3, VersionValidFor: 5, WriteVersion: 1, ReadVersion: 1, SchemaFormat: 4, Encoding: format.UTF8}
	for i := range 3 {
		p = append(p, bytes.Repeat([]byte{byte(i + 1)}, pageSize))
	}
	clear(p[0])
	h.Put(p[0])
	write(t, file, 1, p...)
	calls = new(int)
	d = &Database{
		Path: "a.db", File: &file, System: fsys, PageSize: pageSize, Durable: durable,
		Sync:    func(osfile.Handle) error { *calls++; return nil },
		SyncDir: func(string) error { *calls++; return nil },
		Cut:     file.Truncate,
	}
	return d, file, p, calls
}

func write(t *testing.T, file osfile.Handle, pgno uint32, pages ...[]byte) {
	t.Helper()
	for i, p := range pages {
		if _, err := file.WriteAt(p, int64(int(pgno)-1+i)*pageSize); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, file osfile.Handle) []byte {
	t.Helper()
	size, err := file.Size()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, size)
	if n, err := file.ReadAt(b, 0); n < len(b) {
		t.Fatal(err)
	}
	return b
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// nobody says that no process writes.
func nobody() (bool, error) { return false, nil }

// TestPlayBack overwrites pages in two steps and makes the file longer and shorter. Playing back
// restores it, however the process has died.
func TestPlayBack(t *testing.T) {
	t.Parallel()
	for _, durable := range []bool{true, false} {
		d, file, before, syncs := newDatabase(t, durable)
		want := slices.Concat(before...)
		j, err := d.Create(false)
		must(t, err)
		must(t, j.Save(before, before.count(), pageSize, []uint32{2}))
		write(t, file, 2, make([]byte, pageSize))
		must(t, j.Save(before, before.count(), pageSize, []uint32{1, 2, 3}))
		if j.Saved != 3 {
			t.Errorf("%d images", j.Saved)
		}
		write(t, file, 1, make([]byte, pageSize), make([]byte, pageSize))
		must(t, file.Truncate(2*pageSize))
		if durable != (*syncs > 0) {
			t.Errorf("durable %v: %d syncs", durable, *syncs)
		}
		must(t, j.Close())
		if hot, err := d.LooksHot(nobody); err != nil || !hot {
			t.Fatal(hot, err)
		}
		if hot, err := d.LooksHot(func() (bool, error) { return true, nil }); err != nil || hot {
			t.Error("the journal of a process that lives looks hot:", err)
		}
		if err := d.NeedsRecovery(); !errors.Is(err, dberr.ErrNeedsRecovery) {
			t.Error(err)
		}
		j, err = d.Open()
		must(t, err, j.PlayBack(), j.Close())
		if got := read(t, file); !bytes.Equal(got, want) || j.Restored != 3 {
			t.Errorf("%d pages restored, to other bytes: %v", j.Restored, !bytes.Equal(got, want))
		}
		if hot, err := d.LooksHot(nobody); err != nil || hot {
			t.Error(hot, err)
		}
		if j, err := d.Open(); j != nil || err != nil {
			t.Error("there still is a journal:", err)
		}
	}
}

// TestFinish ends a journal in each way. It is not hot any more, and the next, shorter one ends
// where it ends, whatever the file has behind it.
func TestFinish(t *testing.T) {
	t.Parallel()
	for _, finish := range []func(*Journal) error{(*Journal).Remove, (*Journal).Truncate, (*Journal).Clear} {
		d, file, before, _ := newDatabase(t, true)
		j, err := d.Create(false)
		must(t, err)
		must(t, j.Save(before, before.count(), pageSize, []uint32{1, 2, 3}), finish(j), j.Close())
		if hot, err := d.LooksHot(nobody); err != nil || hot {
			t.Error(hot, err)
		}
		changed := bytes.Repeat([]byte{9}, pageSize)
		write(t, file, 3, changed)
		j, err = d.Create(true)
		must(t, err)
		must(t, j.Save(before, before.count(), pageSize, []uint32{1}), j.Close())
		j, err = d.Open()
		must(t, err, j.PlayBack(), j.Close())
		if got := read(t, file); !bytes.Equal(got[2*pageSize:], changed) {
			t.Error("the images of the first journal were played back")
		}
	}
}

// TestMispaired refuses the journal of another file: the change counter of the file went down.
func TestMispaired(t *testing.T) {
	t.Parallel()
	d, file, before, _ := newDatabase(t, true)
	j, err := d.Create(false)
	must(t, err)
	must(t, j.Save(before, before.count(), pageSize, []uint32{2}), j.Close())
	page1 := slices.Clone(before[0])
	format.PutCounter(page1, 4)
	write(t, file, 1, page1)
	j, err = d.Open()
	must(t, err)
	if err := j.PlayBack(); !errors.Is(err, dberr.ErrMispaired) || j.Restored != 0 {
		t.Errorf("%v, %d pages restored", err, j.Restored)
	}
	must(t, j.Close())
}

// FuzzPlayBack plays back journals of any bytes. Nothing panics, pages are restored within the
// size that the journal begins with, and afterwards there is no journal, or there was an error.
func FuzzPlayBack(f *testing.F) {
	f.Add([]byte{}, []byte{})
	t := &testing.T{}
	d, _, before, _ := newDatabase(t, true)
	j, err := d.Create(false)
	must(t, err, j.Save(before, before.count(), pageSize, []uint32{1, 3}))
	valid := read(t, j.file)
	f.Add(valid, before[0])
	f.Add(valid[:len(valid)-1], []byte("no header"))
	f.Add(slices.Concat(valid, make([]byte, 2*Sector-len(valid)%Sector), valid), before[1])
	f.Fuzz(func(t *testing.T, content, page1 []byte) {
		d, file, _, _ := newDatabase(t, true)
		longest := int64(3 * pageSize)
		d.Cut = func(size int64) error {
			if size > 1<<20 {
				return errors.New("too long for a test")
			}
			longest = max(longest, size)
			return file.Truncate(size)
		}
		write(t, file, 1, page1[:min(len(page1), pageSize)])
		side, err := d.System.OpenSide(file, suffix, osfile.ReadWrite|osfile.Create)
		must(t, err)
		if _, err := side.WriteAt(content, 0); err != nil {
			t.Fatal(err)
		}
		_, err = d.LooksHot(nobody)
		must(t, err)
		j, err := d.Open()
		must(t, err)
		err = j.PlayBack()
		if size, _ := file.Size(); size > longest {
			t.Errorf("the file has %d bytes, of at most %d", size, longest)
		}
		if _, there, _ := d.System.SideExists(file, suffix); there != (err != nil) {
			t.Errorf("there is a journal: %v, after %v", there, err)
		}
		must(t, j.Close(), side.Close())
	})
}
