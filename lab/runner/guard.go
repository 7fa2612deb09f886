package runner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A guarded file is a database that contenders must leave as it is (rule 4).
type guarded struct {
	path string
	info os.FileInfo
	head [100]byte
	log  int64 // bytes in the -wal file, which is there only if the user's database had one
}

// modeWAL is what byte 18 of a database says in WAL mode.
const modeWAL = 2

// guard remembers the database of a task that all read; nil if there is none. Where the cache shall be cold, it drops the file
// from it.
func (r *run) guard(t *task) (*guarded, error) {
	if t.db == "" {
		return nil, nil
	}
	if t.values["cache"] == "cold" {
		if err := evict(t.db); err != nil {
			return nil, err
		}
	}
	return look(t.db)
}

// look reads what tells whether a database was changed: its size and time, and SQLite's header, in which the journal mode stands.
func look(path string) (*guarded, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	g := &guarded{path: path}
	if g.info, err = f.Stat(); err != nil {
		return nil, err
	}
	if _, err = f.ReadAt(g.head[:], 0); err != nil {
		return nil, err
	}
	g.log, err = logSize(path)
	return g, err
}

func logSize(path string) (int64, error) {
	info, err := os.Stat(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// unchanged checks that the database is as it was, and has nothing beside it. Whoever reads one in WAL mode leaves an empty log and an
// index of it; they are removed.
func (g *guarded) unchanged() error {
	if g == nil {
		return nil
	}
	now, err := look(g.path)
	if err != nil {
		return err
	}
	if now.head != g.head || now.log != g.log || now.info.Size() != g.info.Size() || !now.info.ModTime().Equal(g.info.ModTime()) {
		return settingsError("it has changed the database that all read: %s", g.path)
	}
	if g.head[18] == modeWAL {
		err = os.RemoveAll(g.path + "-shm")
		if g.log == 0 {
			err = errors.Join(err, os.RemoveAll(g.path+"-wal"))
		}
		return err
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Stat(g.path + suffix); err == nil {
			return settingsError("it has left %s%s beside the database that all read", filepath.Base(g.path), suffix)
		}
	}
	return nil
}

// repair makes the shared database of a task anew, after a contender has changed it, so that the others do not suffer. The copy of a
// user's stays as it is: what others find in it is compared with what was in it at first.
func (r *run) repair(ctx context.Context, t *task) error {
	if t.workload.Database == nil {
		return nil
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.RemoveAll(t.db + suffix); err != nil {
			return err
		}
	}
	return r.share(ctx)
}
