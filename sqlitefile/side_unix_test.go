//go:build unix

package sqlitefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/race"
)

// An obstacle puts something at the name of a side file that the engine must not use.
type obstacle struct {
	name string
	put  func(side, victim, absent string) error
}

var obstacles = []obstacle{
	{"a link", func(side, victim, _ string) error { return os.Symlink(victim, side) }},
	{"a dangling link", func(side, _, absent string) error { return os.Symlink(absent, side) }},
	{"a hard link", func(side, victim, _ string) error { return os.Link(victim, side) }},
	{"a directory", func(side, _, _ string) error { return os.Mkdir(side, 0o777) }},
	{"a pipe", func(side, _, _ string) error { return syscall.Mkfifo(side, 0o666) }},
}

// A use is a way to come to a side file.
type use struct {
	name string
	do   func(t *testing.T, path string) error
}

// needs reports whether the use opens a database in WAL mode that has the side file.
func (u *use) needs(suffix string) bool {
	switch u.name {
	case "Build", "BackupFile":
		return suffix == "-wal" && u.name == "Build"
	case "Exclusive":
		return suffix == "-wal"
	}
	return suffix == "-wal" || suffix == "-shm"
}

// opened is a use of an open database.
func opened(name string, o Options, do func(t *testing.T, db *DB) error) use {
	return use{name, func(t *testing.T, path string) error {
		db, err := Open(path, &o)
		if err != nil {
			return err
		}
		return dberr.Join(do(t, db), db.Close())
	}}
}

func sideRow(t *testing.T, db *DB) error {
	return db.Update(t.Context(), func(tx *Tx) error {
		table, err := tx.Table("t")
		if err == nil {
			_, err = table.Insert(nil, "new")
		}
		return err
	})
}

// uses are all ways of the package to come to files next to a database.
func uses() []use {
	list := []use{
		opened("Exclusive", Options{Exclusive: true}, sideRow),
		opened("ReadOnly", Options{ReadOnly: true}, func(*testing.T, *DB) error { return nil }),
		opened("Plain", Options{NoMmap: true}, sideRow),
		opened("Checkpoint", Options{}, func(t *testing.T, db *DB) error {
			return db.Checkpoint(t.Context(), CheckpointTruncate)
		}),
		opened("Compact", Options{}, func(t *testing.T, db *DB) error { return db.Compact(t.Context(), nil) }),
		opened("Exec", Options{}, func(t *testing.T, db *DB) error { return db.Exec(t.Context(), "CREATE TABLE more (a)") }),
		opened("CreateIndex", Options{sortBytes: 1}, func(t *testing.T, db *DB) error {
			return db.Exec(t.Context(), "CREATE INDEX more ON t (a)")
		}),
		opened("Spill", Options{spillBytes: 1}, sideRow),
		opened("Backup", Options{}, func(t *testing.T, db *DB) error {
			return db.BackupFile(t.Context(), filepath.Join(t.TempDir(), "copy"), nil)
		}),
		{"BackupFile", func(t *testing.T, path string) error {
			db, err := Open(shared(t), nil)
			if err != nil {
				return err
			}
			return dberr.Join(db.BackupFile(t.Context(), path, &BackupOptions{Replace: true}), db.Close())
		}},
		{"Build", func(t *testing.T, path string) error {
			return Build(t.Context(), path, &BuildOptions{Replace: true}, func(b *Builder) error { return b.Create("CREATE TABLE t (a)") })
		}},
	}
	for i, name := range []string{"DELETE", "TRUNCATE", "PERSIST", "WAL"} {
		mode := JournalDelete + JournalMode(i)
		list = append(list,
			opened("Insert, "+name, Options{JournalMode: mode}, sideRow),
			opened("SetJournalMode, "+name, Options{}, func(t *testing.T, db *DB) error {
				return dberr.Join(db.SetJournalMode(t.Context(), mode), sideRow(t, db))
			}))
	}
	return list
}

// TestSideObstacles has an obstacle at the name of each side file and comes to it in each way:
// nothing outside is touched, nothing waits, and what is refused says so in one line. Whatever can
// go on without the file may do so.
func TestSideObstacles(t *testing.T) {
	race.Skip(t, "it runs processes")
	t.Parallel()
	n := 0
	for _, mode := range []JournalMode{JournalDelete, JournalWAL} {
		for _, suffix := range []string{"-journal", "-wal", "-shm", "-compact", "-hold"} {
			for _, o := range obstacles {
				for _, u := range uses() {
					if n++; n%inQuick(11, 1) != 0 {
						continue
					}
					t.Run(fmt.Sprintf("%d,%s,%s,%s", mode, suffix, o.name, u.name), func(t *testing.T) {
						t.Parallel()
						checkObstacle(t, mode, suffix, o, u)
					})
				}
			}
		}
	}
}

func checkObstacle(t *testing.T, mode JournalMode, suffix string, o obstacle, u use) {
	path := shared(t)
	db, err := Open(path, nil)
	must.Do(t, err)
	must.Do(t, dberr.Join(db.SetJournalMode(t.Context(), mode), db.Close()))
	outside := t.TempDir()
	victim, absent := filepath.Join(outside, "victim"), filepath.Join(outside, "absent")
	must.Do(t, os.WriteFile(victim, []byte("content"), 0o600))
	must.Do(t, o.put(path+suffix, victim, absent))
	err = u.do(t, path)
	if err != nil && (!errors.Is(err, ErrSideFile) && !errors.Is(err, fs.ErrExist) || strings.Contains(err.Error(), "\n")) {
		t.Errorf("error %v", err)
	}
	if err == nil && mode == JournalWAL && u.needs(suffix) {
		t.Error("not refused")
	}
	if got, err := os.ReadFile(victim); string(got) != "content" || err != nil {
		t.Errorf("the victim holds %.20q, %v", got, err)
	}
	if info, err := os.Stat(victim); err != nil || info.Mode() != 0o600 {
		t.Errorf("the victim: %v, %v", info.Mode(), err)
	}
	if _, err := os.Lstat(absent); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the target of the link: %v", err)
	}
}
