//go:build unix

package sidefile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

// A look lists the database at a path and the files next to it, under a name of the moment.
type look func(moment string)

// An entry is a way to come to the files next to a database, for the engine and for C SQLite.
type entry struct {
	name string
	wal  bool     // the database is in WAL mode
	left []string // endings of files that lie there already, empty, and belong to the user of the test
	none bool     // there is no database
	ours func(path string, look look) error
	c    func(path string, look look) error
}

var background = context.Background()

// entries are the ways that are compared.
func entries() []entry {
	return []entry{
		{name: "DELETE", ours: oursWriting(sqlitefile.JournalDelete), c: cWriting("DELETE")},
		{name: "TRUNCATE", ours: oursWriting(sqlitefile.JournalTruncate), c: cWriting("TRUNCATE")},
		{name: "PERSIST", ours: oursWriting(sqlitefile.JournalPersist), c: cWriting("PERSIST")},
		{name: "leftover journal", left: []string{"-journal"}, ours: oursWriting(sqlitefile.JournalPersist), c: cWriting("PERSIST")},
		{name: "Exclusive", ours: oursOpen(sqlitefile.Options{Exclusive: true}, insert), c: cOpen("PRAGMA locking_mode = EXCLUSIVE", insertSQL)},
		{name: "WAL", wal: true, ours: oursOpen(sqlitefile.Options{}, insert), c: cOpen(insertSQL)},
		{name: "leftover log", wal: true, left: []string{"-wal", "-shm"}, ours: oursOpen(sqlitefile.Options{}, insert), c: cOpen(insertSQL)},
		{name: "read WAL", wal: true, ours: oursOpen(sqlitefile.Options{}, nothing), c: cOpen("SELECT * FROM t")},
		{name: "Plain WAL", wal: true, ours: oursOpen(sqlitefile.Options{NoMmap: true}, insert), c: cOpen(insertSQL)},
		{
			name: "Exclusive WAL", wal: true,
			ours: oursOpen(sqlitefile.Options{Exclusive: true}, insert), c: cOpen("PRAGMA locking_mode = EXCLUSIVE", insertSQL),
		},
		{name: "Checkpoint", wal: true, ours: oursOpen(sqlitefile.Options{}, checkpoint), c: cOpen(insertSQL, "PRAGMA wal_checkpoint = TRUNCATE")},
		{name: "to WAL", ours: oursOpen(sqlitefile.Options{}, mode(sqlitefile.JournalWAL)), c: cOpen("PRAGMA journal_mode = WAL", insertSQL)},
		{name: "from WAL", wal: true, ours: oursOpen(sqlitefile.Options{}, mode(sqlitefile.JournalDelete)), c: cOpen("PRAGMA journal_mode = DELETE", insertSQL)},
		{name: "Compact", ours: oursOpen(sqlitefile.Options{}, compact), c: cOpen("VACUUM")},
		{name: "Compact, WAL", wal: true, ours: oursOpen(sqlitefile.Options{}, compact), c: cOpen("VACUUM")},
		{name: "Create", none: true, ours: oursOpen(sqlitefile.Options{Create: true, JournalMode: sqlitefile.JournalDelete}, create), c: cOpen("CREATE TABLE t (a)")},
		{
			name: "Create, WAL", none: true,
			ours: oursOpen(sqlitefile.Options{Create: true, JournalMode: sqlitefile.JournalWAL}, create),
			c:    cOpen("PRAGMA journal_mode = WAL", "CREATE TABLE t (a)"),
		},
		{name: "Build", none: true, ours: oursBuild, c: cOpen("CREATE TABLE t (a)")},
	}
}

const insertSQL = "INSERT INTO t VALUES (1)"

func insert(db *sqlitefile.DB) error {
	return db.Update(background, func(tx *sqlitefile.Tx) error {
		t, err := tx.Table("t")
		if err == nil {
			_, err = t.Insert(1)
		}
		return err
	})
}

func nothing(*sqlitefile.DB) error { return nil }

func create(db *sqlitefile.DB) error { return db.Exec(background, "CREATE TABLE t (a)") }

func checkpoint(db *sqlitefile.DB) error {
	return errors.Join(insert(db), db.Checkpoint(background, sqlitefile.CheckpointTruncate))
}

// compact leaves a database as it is whose owner this user cannot give to the new file.
func compact(db *sqlitefile.DB) error {
	err := db.Compact(background, nil)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

func mode(m sqlitefile.JournalMode) func(db *sqlitefile.DB) error {
	return func(db *sqlitefile.DB) error { return errors.Join(db.SetJournalMode(background, m), insert(db)) }
}

// oursOpen looks while the database is open, and when it is closed.
func oursOpen(o sqlitefile.Options, do func(db *sqlitefile.DB) error) func(string, look) error {
	return func(path string, look look) error {
		o := o
		db, err := sqlitefile.Open(path, &o)
		if err != nil {
			return err
		}
		err = do(db)
		look("open")
		err = errors.Join(err, db.Close())
		look("closed")
		return err
	}
}

// oursWriting looks in the middle of a commit as well, which waits for a reader then, after the
// commit, and when the database is closed.
func oursWriting(m sqlitefile.JournalMode) func(string, look) error {
	return func(path string, look look) error {
		reader, err := sqlitefile.Open(path, nil)
		if err != nil {
			return err
		}
		rx, err := reader.BeginView(background)
		if err != nil {
			return err
		}
		writer := oursOpen(sqlitefile.Options{JournalMode: m, BusyTimeout: time.Minute}, func(db *sqlitefile.DB) error {
			done := make(chan error)
			go func() { done <- insert(db) }()
			for { // until the journal is written
				if info, err := os.Stat(path + "-journal"); err == nil && info.Size() > 512 {
					break
				}
			}
			look("writing")
			rx.End()
			err := reader.Close()
			return errors.Join(err, <-done)
		})
		return writer(path, look)
	}
}

func oursBuild(path string, look look) error {
	err := sqlitefile.Build(background, path, nil, func(b *sqlitefile.Builder) error { return b.Create("CREATE TABLE t (a)") })
	look("open")
	look("closed")
	return err
}

// cOpen is oursOpen for C SQLite.
func cOpen(queries ...string) func(string, look) error {
	return func(path string, look look) error {
		c, err := judge.Open(path)
		if err != nil {
			return err
		}
		for _, query := range queries {
			err = errors.Join(err, c.Exec(query))
		}
		look("open")
		err = errors.Join(err, c.Close())
		look("closed")
		return err
	}
}

// cWriting is oursWriting for C SQLite.
func cWriting(mode string) func(string, look) error {
	return func(path string, look look) error {
		c, err := judge.Open(path)
		if err != nil {
			return err
		}
		err = errors.Join(c.Exec("PRAGMA journal_mode = "+mode), c.Exec("BEGIN"), c.Exec(insertSQL))
		look("writing")
		err = errors.Join(err, c.Exec("COMMIT"))
		look("open")
		err = errors.Join(err, c.Close())
		look("closed")
		return err
	}
}
