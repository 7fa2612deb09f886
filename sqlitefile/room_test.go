package sqlitefile

import (
	"errors"
	"testing"

	"github.com/foliofs/folio/internal/osfile/crashfs"
)

// TestFullAfterSpill commits a transaction that has already overwritten pages of the file, on a
// disk that another program has filled since: the commit fails, the pages are as they were, and the
// next transaction works.
func TestFullAfterSpill(t *testing.T) {
	t.Parallel()
	for _, mode := range crashModes {
		t.Run(mode.name, func(t *testing.T) {
			fs := crashfs.New(crashfs.WithRoom(tightDisk))
			o := &Options{Create: true, PageSize: 1024, JournalMode: mode.journal, spillBytes: 8 << 10, system: fs}
			if mode.wal {
				o.JournalMode = JournalWAL
			}
			db := open(t, crashPath, o)
			if err := db.Exec(t.Context(), "CREATE TABLE t(a); CREATE INDEX ta ON t(a); CREATE TABLE large(a)"); err != nil {
				t.Fatal(err)
			}
			if err := addRow(db); err != nil {
				t.Fatal(err)
			}
			err := db.Update(t.Context(), func(tx *Tx) error {
				for n := range 230 {
					table, err := tx.Table("t")
					if err == nil {
						_, err = table.Insert(make([]byte, 600+n))
					}
					if err != nil {
						return err
					}
				}
				fs.LeaveRoom(0)
				return nil
			})
			if !errors.Is(err, ErrFull) {
				t.Errorf("on a full disk: %v", err)
			}
			if err := checkRows(db, 1, 1); err != nil {
				t.Error(err)
			}
			fs.LeaveRoom(tightDisk)
			if err := addRow(db); err != nil {
				t.Error(err)
			}
			if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
				t.Error(err, report)
			}
			if err := checkRows(db, 2, 2); err != nil {
				t.Error(err)
			}
		})
	}
}
