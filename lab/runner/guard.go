package runner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A guarded file is a database that contenders must not change (rule 4): its size and time, and
// SQLite's header, which holds the journal mode.
type guarded struct {
	path string
	size int64
	time time.Time
	head [100]byte
	log  int64 // bytes in the -wal file, which is there only if an earlier contender has left one
}

// modeAt is the byte of the header that says how a database is written, modeWAL its value in WAL
// mode.
const modeAt, modeWAL = 18, 2

// guard remembers the database of a task that all contenders read; nil if there is none.
func (r *run) guard(t *task) (*guarded, error) {
	if t.db == "" {
		return nil, nil
	}
	return look(t.db)
}

// look reads the state of a database.
func look(path string) (*guarded, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	g := &guarded{path: path, size: info.Size(), time: info.ModTime()}
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

// unchanged checks that the database has not changed, and that there is no other file next to it. A
// reader of a database in WAL mode leaves an empty log and an index of it; unchanged removes them.
func (g *guarded) unchanged() error {
	if g == nil {
		return nil
	}
	now, err := look(g.path)
	if err != nil {
		return err
	}
	if *now != *g {
		return settingsError("it has changed the database that all contenders read: %s", g.path)
	}
	if g.head[modeAt] == modeWAL {
		err = os.RemoveAll(g.path + "-shm")
		if g.log == 0 {
			err = errors.Join(err, os.RemoveAll(g.path+"-wal"))
		}
		return err
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Stat(g.path + suffix); err == nil {
			return settingsError("it has left %s%s next to the database that all contenders read", filepath.Base(g.path), suffix)
		}
	}
	return nil
}

// repair makes the shared database of a task again after a contender has changed it, so that it
// stays right for the next contenders. The copy of a user's database stays, because the answers of
// all contenders are compared with those from before the change.
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
