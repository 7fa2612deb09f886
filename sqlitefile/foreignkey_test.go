package sqlitefile

import (
	"errors"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

// TestDeferredForeignKey ends transactions with a row that has no parent, by Update and by Commit.
func TestDeferredForeignKey(t *testing.T) {
	t.Parallel()
	path := scripted(t, `CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p DEFERRABLE INITIALLY DEFERRED)`)
	db := open(t, path, &Options{ForeignKeys: true})
	insert := func(tx *Tx) error {
		c, err := tx.Table("c")
		if err == nil {
			_, err = c.Insert(nil, 7)
		}
		return err
	}
	if err := db.Update(t.Context(), insert); !errors.Is(err, ErrConstraint) {
		t.Errorf("Update: %v", err)
	}
	for _, withParent := range []bool{false, true} {
		tx, err := db.BeginUpdate(t.Context())
		must.Do(t, err)
		must.Do(t, insert(tx))
		if withParent {
			p, err := tx.Table("p")
			must.Do(t, err)
			must.Do(t, p.InsertRowid(7, nil))
		}
		if err := tx.Commit(); errors.Is(err, ErrConstraint) == withParent {
			t.Errorf("Commit: %v, with a parent: %v", err, withParent)
		}
	}
	checkShell(t, path, "SELECT count(*) FROM c", "1")
}
