package sqlitefile

import (
	"errors"
	"fmt"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

// TestCookies changes the numbers of the application in every journal mode, and reads them with
// SQLite.
func TestCookies(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalDelete, JournalTruncate, JournalPersist, JournalWAL} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			t.Parallel()
			path := t.TempDir() + "/db"
			db := open(t, path, &Options{Create: true, JournalMode: mode})
			set := func(tx *Tx, version int32, id uint32) {
				must.Do(t, errors.Join(tx.SetUserVersion(version), tx.SetApplicationID(id)))
				if tx.UserVersion() != version || tx.ApplicationID() != id || tx.Info().UserVersion != version {
					t.Errorf("within: %d, %d", tx.UserVersion(), tx.ApplicationID())
				}
			}
			failed := errors.New("no")
			update(t, db, func(tx *Tx) error { set(tx, -7, 0xfeedbeef); return nil })
			update(t, db, func(tx *Tx) error {
				if err := tx.Nested(func(tx *Tx) error { set(tx, 1, 2); return failed }); err != failed {
					t.Error(err)
				}
				if tx.UserVersion() != -7 || tx.ApplicationID() != 0xfeedbeef {
					t.Errorf("after going back: %d, %d", tx.UserVersion(), tx.ApplicationID())
				}
				return tx.Exec("CREATE TABLE t (a)")
			})
			if err := db.Update(t.Context(), func(tx *Tx) error { set(tx, 3, 4); return failed }); err != failed {
				t.Error(err)
			}
			view(t, db, func(rx *Rx) error {
				if rx.UserVersion() != -7 || rx.ApplicationID() != 0xfeedbeef || rx.Info().ApplicationID != 0xfeedbeef {
					t.Errorf("%d, %d", rx.UserVersion(), rx.ApplicationID())
				}
				return nil
			})
			var kept *Tx
			update(t, db, func(tx *Tx) error { kept = tx; return nil })
			if err := kept.SetUserVersion(1); !errors.Is(err, ErrClosed) {
				t.Errorf("after the end: %v", err)
			}
			checkShell(t, path, "PRAGMA user_version; PRAGMA application_id; PRAGMA integrity_check", "-7\n-17973521\nok")
			shell(t, path, "PRAGMA user_version = 9; PRAGMA application_id = 5")
			view(t, db, func(rx *Rx) error {
				if rx.UserVersion() != 9 || rx.ApplicationID() != 5 {
					t.Errorf("of SQLite: %d, %d", rx.UserVersion(), rx.ApplicationID())
				}
				return nil
			})
		})
	}
}
