package repair

import (
	"context"
	"fmt"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// Restored adds a way out to err if a database contains the tables of a volume and lacks the
// numbers of one, as after .dump of sqlite3.
func Restored(tx *sqlitefile.Rx, err error) error {
	if lacksNumbers(tx) {
		return &restoredError{err, versionOf(tx)}
	}
	return err
}

// lacksNumbers reports whether a database contains the tables of a volume, and an application_id or
// a user_version of 0. A number that is neither 0 nor the one of a volume says that the database
// belongs to another program.
func lacksNumbers(tx *sqlitefile.Rx) bool {
	id, version := tx.Info().ApplicationID, tx.Info().UserVersion
	known := (id == 0 || id == store.ApplicationID) && version >= 0 && version <= store.CloneVersion
	return known && (id == 0 || version == 0) && rowstore.CheckTables(tx) == nil
}

// versionOf returns the version that a volume with these tables has.
func versionOf(tx *sqlitefile.Rx) int32 {
	if t, err := tx.Table(rowstore.OriginShape.Name); err == nil && !t.WithoutRowid() && rowstore.HasColumns(t, rowstore.OriginShape.Columns) {
		return store.CloneVersion
	}
	return store.SchemaVersion
}

// A restoredError is an error about a database with the tables of a volume, without its numbers.
type restoredError struct {
	error
	version int32
}

func (e *restoredError) Error() string {
	return fmt.Sprintf("%v, and it has the tables of a volume, as after .dump of sqlite3; folio check --repair makes it one, or PRAGMA application_id = %d and PRAGMA user_version = %d",
		e.error, store.ApplicationID, e.version)
}

func (e *restoredError) Unwrap() error { return e.error }

// NamesWayOut tells programs that the text of the error already says how to go on.
func (e *restoredError) NamesWayOut() bool { return true }

// repairNumbers sets application_id and user_version of a database that lacksNumbers, and returns
// no repairs if the database has them. Another database is refused as Open refuses it, and nothing
// is written to it, nor to a database that is damaged.
func repairNumbers(ctx context.Context, db *sqlitefile.DB) (repairs []store.Repair, err error) {
	if err = db.View(ctx, AdmitHeader); err == nil {
		return nil, nil
	}
	err = db.Update(ctx, func(tx *sqlitefile.Tx) error {
		repairs = nil
		refusal := AdmitHeader(&tx.Rx)
		if refusal == nil { // another process has set them meanwhile
			return nil
		}
		if !lacksNumbers(&tx.Rx) {
			return refusal
		}
		if err := mustBeIntact(ctx, &tx.Rx); err != nil {
			return err
		}
		version := versionOf(&tx.Rx)
		repairs = []store.Repair{numbersRepair(tx.Info(), version)}
		if err := tx.SetApplicationID(store.ApplicationID); err != nil {
			return err
		}
		return tx.SetUserVersion(version)
	})
	if err != nil {
		return nil, err
	}
	return repairs, nil
}

// mustBeIntact returns an error if the b-trees of a database are damaged.
func mustBeIntact(ctx context.Context, rx *sqlitefile.Rx) error {
	ok, err := sound(ctx, rx)
	if err == nil && !ok {
		err = store.Damaged("its database is damaged, and lacks the numbers of a volume; restore the dump again")
	}
	return err
}

func numbersRepair(info sqlitefile.Info, version int32) store.Repair {
	what := fmt.Sprintf("application_id is %d and user_version %d, as after .dump of sqlite3", info.ApplicationID, info.UserVersion)
	done := fmt.Sprintf("they are set to %d and %d", store.ApplicationID, version)
	return store.Repair{Problem: store.Problem{What: what}, Done: done}
}

// AdmitHeader is admit without a look at the tables.
func AdmitHeader(tx *sqlitefile.Rx) error {
	info := tx.Info()
	if info.ApplicationID != store.ApplicationID {
		return fmt.Errorf("%w (application_id 0x%08x, not 0x%08x)", store.ErrNotVolume, info.ApplicationID, store.ApplicationID)
	}
	if info.UserVersion > store.CloneVersion {
		return fmt.Errorf("%w: its user_version is %d, this one reads up to %d", store.ErrNewerVersion, info.UserVersion, store.CloneVersion)
	}
	if info.UserVersion < 1 {
		return fmt.Errorf("%w: its user_version is %d, and versions count from 1", store.ErrDamaged, info.UserVersion)
	}
	return nil
}

// sound reports whether nothing is wrong with the database, apart from the text of its schema.
func sound(ctx context.Context, tx *sqlitefile.Rx) (bool, error) {
	r, err := tx.Check(ctx, nil)
	if err != nil {
		return false, err
	}
	for _, p := range r.Problems {
		if p.Malformed == "" {
			return false, nil
		}
	}
	return true, nil
}
