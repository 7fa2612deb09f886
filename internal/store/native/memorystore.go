package native

import (
	"context"
	"errors"
	"time"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
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
		return nil, rowstore.PathError(db.Path(), err)
	}
	return newStore(db, options.BusyTimeout)
}

// NotDatabase reports whether err says that a file is no database, perhaps because it is empty.
func NotDatabase(err error) bool { return errors.Is(err, sqlitefile.ErrNotDatabase) }

// FillEmpty makes a volume of a file of no bytes, unless another process was faster. A file with
// another content is an error, and stays as it is.
func FillEmpty(path string, o *Options) error {
	options := *o
	options.Create, options.JournalMode = true, sqlitefile.JournalWAL
	db, err := sqlitefile.Open(path, &options)
	if err != nil {
		return err
	}
	err = db.Update(context.Background(), func(tx *sqlitefile.Tx) error {
		if objects, err := tx.Objects(); err != nil || len(objects) > 0 {
			return err
		}
		return createVolume(tx)
	})
	return errors.Join(err, db.Close())
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
