package sqlitefile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// TestLostFrameStaysLost cuts a log off within the zeros at the end of its last frame. The commit
// is lost with them, and the zeros that the next one adds to the file do not bring it back.
func TestLostFrameStaysLost(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.db")
	db := open(t, path, &Options{Create: true, JournalMode: JournalWAL, PageSize: 512})
	if err := db.Exec(t.Context(), "CREATE TABLE t(a INTEGER PRIMARY KEY, b)"); err != nil {
		t.Fatal(err)
	}
	put := func(id int64, b byte) func(tx *Tx) error {
		return func(tx *Tx) error {
			table, err := tx.Table("t")
			if err == nil {
				err = table.Put(id, nil, bytes.Repeat([]byte{b}, 200))
			}
			return err
		}
	}
	update(t, db, put(1, 0))
	crashed := filepath.Join(t.TempDir(), "t.db")
	copyFile(t, crashed, path)
	copyFile(t, crashed+"-wal", path+"-wal")
	if err := os.Truncate(crashed+"-wal", format.FrameOffset(db.Stats().LogFrames+1, 512)-100); err != nil {
		t.Fatal(err)
	}
	again := open(t, crashed, &Options{system: watch(t, osfile.OS, DurabilityFull)})
	n := 0
	view(t, again, countRows(&n))
	if n != 0 {
		t.Fatalf("%d rows, want none: the log was not cut off within the last frame", n)
	}
	update(t, again, put(2, 1))
	if view(t, again, countRows(&n)); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}
