package sqlstore

import (
	"database/sql"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/sqlstore"
)

// Options say how a volume is opened. The zero value, and nil, are good defaults.
type Options struct {
	// ReadOnly opens the volume for reading.
	ReadOnly bool
	// Create makes an empty volume if the database has nothing in it.
	Create bool
	// BusyTimeout is how long to wait for other connections; 0 means 5 seconds, and less than 0 not
	// to wait.
	BusyTimeout time.Duration
}

// Open opens the volume that a driver finds by a data source name, such as a path. The errors are
// the ones of OpenDB.
//
// If there is no file SQLite makes an empty one, which is refused if Options.Create is not set,
// unless the name says otherwise: mode=rw.
func Open(driver, dsn string, o *Options) (*folio.Volume, error) {
	s, err := sqlstore.Open(driver, dsn, (*sqlstore.Options)(o))
	if err != nil {
		return nil, err
	}
	return volume(s, o)
}

// OpenDB opens the volume in a database that the caller keeps, and must close after the volume. The
// volume takes connections from it and gives none back. The caller may use further connections.
//
// OpenDB returns folio.ErrNotVolume for a database that is no volume, folio.ErrNewerVersion for a
// volume of a later version of the schema, and folio.ErrDamaged for a volume that contradicts
// itself. Errors are *fs.PathError.
func OpenDB(db *sql.DB, o *Options) (*folio.Volume, error) {
	s, err := sqlstore.OpenDB(db, (*sqlstore.Options)(o))
	if err != nil {
		return nil, err
	}
	return volume(s, o)
}

func volume(s store.Store, o *Options) (*folio.Volume, error) {
	if o == nil {
		o = new(Options)
	}
	v, err := folio.OpenStore(private.Key{}, s, &folio.Options{BusyTimeout: o.BusyTimeout})
	if err != nil {
		_ = s.Close()
	}
	return v, err
}
