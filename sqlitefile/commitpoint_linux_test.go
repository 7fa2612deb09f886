package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

// TestCommitRights commits as a user without rights: in directories that may be entered and written
// but not read, in one whose rights are taken away while the database is open, and without a free
// descriptor when the directory should be synced. C SQLite commits in all of these places.
func TestCommitRights(t *testing.T) {
	dir, err := os.MkdirTemp("", "folio")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	drop := filepath.Join(dir, "drop")
	must.Do(t, errors.Join(os.Mkdir(drop, 0o700), os.Chmod(dir, 0o755), os.Chmod(drop, 0o733)))
	if os.Getuid() != 0 {
		must.Do(t, os.Chmod(drop, 0o300))
	}
	out := asNobody(t, "TestCommitRightsProcess", drop)
	if n := strings.Count(out, "ok\n"); n != 4*4*3 {
		t.Errorf("%d of %d\n%s", n, 4*4*3, out)
	}
}

// TestCommitRightsProcess is not a test but what TestCommitRights runs.
func TestCommitRightsProcess(t *testing.T) {
	dir := os.Getenv(readOnlyEnv)
	if dir == "" {
		t.Skip("only a process of TestCommitRights")
	}
	for _, mode := range []JournalMode{JournalWAL, JournalDelete, JournalTruncate, JournalPersist} {
		for _, d := range []Durability{DurabilityOff, DurabilityNormal, DurabilityFull, DurabilityExtra} {
			o := &Options{Create: true, JournalMode: mode, Durability: d}
			own := filepath.Join(dir, fmt.Sprintf("own-%d-%d", mode, d))
			for what, err := range map[string]error{
				"unreadable":     commitWithout(filepath.Join(dir, fmt.Sprintf("%d-%d.db", mode, d)), o, func(commit func() error) error { return commit() }),
				"built":          buildWithout(filepath.Join(dir, fmt.Sprintf("built-%d-%d", mode, d))),
				"no descriptors": errors.Join(os.Mkdir(own, 0o755), commitWithout(filepath.Join(own, "db"), o, withoutDescriptors(mode))),
			} {
				if err == nil {
					err = errors.New("ok")
				}
				fmt.Printf("%d %d %s: %v\n", mode, d, what, err)
			}
		}
	}
}

// buildWithout builds a database, and another one in its place.
func buildWithout(path string) error {
	for _, replace := range []bool{false, true} {
		err := Build(context.Background(), path, &BuildOptions{Replace: replace}, func(*Builder) error { return nil })
		if err != nil {
			return err
		}
	}
	return nil
}

// commitWithout makes a database, and lets do call a commit where something is missing. It commits
// before and after it.
func commitWithout(path string, o *Options, do func(commit func() error) error) error {
	db, err := Open(path, o)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx := context.Background()
	if err := errors.Join(db.Exec(ctx, "CREATE TABLE t (a)"), db.Close()); err != nil {
		return err
	}
	if db, err = Open(path, o); err != nil { // the log is there no more, and has no name that was synced
		return err
	}
	defer db.Close()
	insert := func() error { return insertOne(db, 1) }
	if err := errors.Join(do(insert), insert()); err != nil {
		return err
	}
	if o.JournalMode == JournalWAL { // needs no name any more
		parent := filepath.Dir(path)
		if os.Chmod(parent, 0) == nil {
			err = insert()
			err = errors.Join(err, os.Chmod(parent, 0o700))
		}
	}
	return errors.Join(err, db.Close())
}

// withoutDescriptors returns a function that calls a commit while no descriptor is free, except
// that of a rollback journal.
func withoutDescriptors(mode JournalMode) func(commit func() error) error {
	return func(commit func() error) error {
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			return err
		}
		less := limit
		less.Cur = min(less.Cur, 100)
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &less); err != nil {
			return err
		}
		var taken []int
		for {
			fd, err := syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
			if err != nil {
				break
			}
			taken = append(taken, fd)
		}
		if mode != JournalWAL && len(taken) > 0 {
			_ = syscall.Close(taken[0])
			taken = slices.Delete(taken, 0, 1)
		}
		err := commit()
		for _, fd := range taken {
			_ = syscall.Close(fd)
		}
		return errors.Join(err, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	}
}
