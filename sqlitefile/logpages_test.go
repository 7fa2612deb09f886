package sqlitefile

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/format"
)

// resealed returns a copy of a database with a log of two commits, of which fn has changed the
// headers of the frames: their checksums are right.
func resealed(t *testing.T, fn func(n int, f *format.FrameHeader)) string {
	t.Helper()
	path, copied := filepath.Join(t.TempDir(), "a.db"), filepath.Join(t.TempDir(), "b.db")
	db := open(t, path, &Options{Create: true, JournalMode: JournalWAL})
	for _, sql := range []string{"CREATE TABLE t(a)", "CREATE TABLE u(a)"} {
		if err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	log := readFile(t, path+"-wal")
	writeFile(t, copied, readFile(t, path))
	head, ok := format.ParseWALHeader(log)
	if !ok {
		t.Fatal("no log")
	}
	sum := head.Checksum
	for n := uint32(1); format.FrameOffset(n+1, head.PageSize) <= int64(len(log)); n++ {
		frame := log[format.FrameOffset(n, head.PageSize):format.FrameOffset(n+1, head.PageSize)]
		f, _ := format.ParseFrameHeader(frame)
		if f.Salt != head.Salt {
			break
		}
		fn(int(n), &f)
		f.Seal(&head, sum, frame[format.FrameHeaderSize:])
		f.Put(frame)
		sum = f.Checksum
	}
	writeFile(t, copied+"-wal", log)
	return copied
}

// TestLogPages opens logs whose last commit has another number of pages than page 1 in them. As for
// SQLite the smaller number of the header counts, and a larger one is corruption.
func TestLogPages(t *testing.T) {
	t.Parallel()
	add := func(pages uint32) func(int, *format.FrameHeader) {
		return func(_ int, f *format.FrameHeader) {
			if f.Commit != 0 {
				f.Commit += pages
			}
		}
	}
	view(t, open(t, resealed(t, add(0)), nil), func(rx *Rx) error { _, err := rx.Table("u"); return err })

	_, err := Open(resealed(t, add(^uint32(0))), nil)
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("one page less in the log: %v, want ErrCorrupt", err)
	}
	db := open(t, resealed(t, add(4)), nil)
	view(t, db, func(rx *Rx) error {
		if n := rx.Info().PageCount; n != 3 {
			t.Errorf("four pages more in the log: %d pages, want 3", n)
		}
		return nil
	})
	update(t, db, func(tx *Tx) error {
		u, err := tx.Table("u")
		if err == nil {
			_, err = u.Insert("a row")
		}
		return err
	})
	if r, err := db.Check(t.Context(), nil); err != nil || !r.OK() {
		t.Errorf("after a write: %v, %v", r, err)
	}
}

// TestWriteVersion reads a file that is read-only for every version of SQLite so far, and does not
// write it.
func TestWriteVersion(t *testing.T) {
	t.Parallel()
	for _, readVersion := range []byte{format.VersionRollback, format.VersionWAL} {
		path := shared(t)
		b := readFile(t, path)
		b[18], b[19] = 3, readVersion
		writeFile(t, path, b)
		db := open(t, path, nil)
		wantRows(t, db, 10)
		if err := db.Exec(t.Context(), "CREATE TABLE u(a)"); !errors.Is(err, ErrReadOnly) {
			t.Errorf("Exec: %v, want ErrReadOnly", err)
		}
		err := db.Update(t.Context(), func(tx *Tx) error { return nil })
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("Update: %v, want ErrReadOnly", err)
		}
		if err := db.SetJournalMode(t.Context(), JournalWAL); readVersion == format.VersionRollback && !errors.Is(err, ErrReadOnly) {
			t.Errorf("SetJournalMode: %v, want ErrReadOnly", err)
		}
		wantRows(t, db, 10)
	}
}
