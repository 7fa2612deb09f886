package native

import (
	"context"
	"time"

	"github.com/foliofs/folio/sqlitefile"
	"github.com/foliofs/folio/store"
)

// OpenMemory makes an empty volume in memory, as sqlitefile.OpenMemory does.
func OpenMemory(o *Options) (*Store, error) {
	options := Options{}
	if o != nil {
		options = *o
	}
	options.JournalMode = sqlitefile.JournalWAL
	db, err := sqlitefile.OpenMemory(&options)
	if err != nil {
		return nil, err
	}
	if err := db.Update(context.Background(), createVolume); err != nil {
		_ = db.Close()
		return nil, pathError(db.Path(), err)
	}
	return newStore(db, options.BusyTimeout)
}

// createVolume makes a volume of an empty database.
func createVolume(tx *sqlitefile.Tx) error {
	for _, sql := range store.Schema {
		if err := tx.Exec(sql); err != nil {
			return err
		}
	}
	if err := tx.SetApplicationID(store.ApplicationID); err != nil {
		return err
	}
	if err := tx.SetUserVersion(store.SchemaVersion); err != nil {
		return err
	}
	node, err := tx.Table("node")
	if err != nil {
		return err
	}
	now := time.Now().UnixNano()
	_, err = node.Insert(int64(store.Root), store.ModeDir|0o755, 2, 0, 0, 0, 0, now, now, now, 0)
	return err
}
