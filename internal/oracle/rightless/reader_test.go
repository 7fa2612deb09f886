package rightless

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

var kills = flag.Int("kills", 30, "writers that TestReader kills, for each kind of them")

// A tally counts the work of a reader.
type tally struct{ opened, views, busy, changed int }

// read opens the database again and again and reads in it, until standard input ends. Each view
// must see a whole transaction, and all that were committed before it began. It may fail only if a
// writer began meanwhile.
func read(path, kind string) error {
	var stop atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop.Store(true)
	}()
	var did tally
	last := int64(0)
	for ; !stop.Load(); did.opened++ {
		db, err := sqlitefile.Open(path, &sqlitefile.Options{NoMmap: kind == "plain"})
		if err != nil {
			if !errors.Is(err, sqlitefile.ErrBusy) {
				return fmt.Errorf("open: %w", err)
			}
			did.busy++
			continue
		}
		for range 1 + rand.IntN(100) {
			if err := did.view(db, path, &last); err != nil {
				return fmt.Errorf("view %d of %s: %w", did.views, kind, err)
			}
		}
		if err := db.Close(); err != nil {
			return fmt.Errorf("close: %w", err)
		}
	}
	fmt.Printf("%+v\n", did)
	return nil
}

func (did *tally) view(db *sqlitefile.DB, path string, last *int64) error {
	did.views++
	least := max(*last, committed(path))
	var count int64
	err := db.View(context.Background(), func(rx *sqlitefile.Rx) (err error) {
		if count, err = sum(rx); err == nil && rand.IntN(4) == 0 {
			var again int64
			if again, err = sum(rx); err == nil && again != count {
				err = fmt.Errorf("%d transactions, then %d", count, again)
			}
		}
		return err
	})
	switch {
	case errors.Is(err, sqlitefile.ErrChanged):
		did.changed++
	case errors.Is(err, sqlitefile.ErrBusy):
		did.busy++
	case err != nil:
		return err
	case count < least:
		return fmt.Errorf("%d transactions, where %d were committed", count, least)
	default:
		*last = count
	}
	return nil
}

// TestReader lets two processes of another user read a database while writers by one of the
// engines, or by both in turn, are killed one after the other.
func TestReader(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("a reader without rights: only root can start one")
	}
	for _, engines := range [][]string{{"ours"}, {"c"}, {"ours", "c"}} {
		t.Run(fmt.Sprint(engines), func(t *testing.T) {
			t.Parallel()
			if !judge.Available {
				t.Skip("C SQLite: no C compiler in this build")
			}
			dir, program := shared(t)
			path := filepath.Join(dir, "l.db")
			c, err := judge.Open(path)
			if err == nil {
				err = errors.Join(c.Exec(fmt.Sprintf(schema, rows)), c.Close(), os.Chmod(path, 0o644))
			}
			if err != nil {
				t.Fatal(err)
			}
			stops := []func(){startReader(t, program, path, "mapped"), startReader(t, program, path, "plain")}
			count := int64(0)
			for n := range *kills {
				count = writeAndKill(t, program, path, engines[n%len(engines)], count)
			}
			for _, stop := range stops {
				stop()
			}
			t.Logf("%d transactions by %v", count, engines)
		})
	}
}

// startReader starts a reader without rights, and returns a function that ends it.
func startReader(t *testing.T, program, path, kind string) (stop func()) {
	t.Helper()
	cmd := command(program, "read", path, kind)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = in.Close()
		text, _ := io.ReadAll(out)
		if err := cmd.Wait(); err != nil {
			t.Errorf("reader: %v", err)
		}
		t.Logf("%s: %s", kind, text)
	}
}

// tellCount lets the readers know how many transactions are committed.
func tellCount(t *testing.T, path string, count int64) {
	t.Helper()
	err := os.WriteFile(path+".next", []byte(strconv.FormatInt(count, 10)), 0o644)
	if err = errors.Join(err, os.Rename(path+".next", path+".count")); err != nil {
		t.Fatal(err)
	}
}

// writeAndKill lets a writer commit some transactions and kills it. It returns how many
// transactions there are known to be.
func writeAndKill(t *testing.T, program, path, engine string, count int64) int64 {
	t.Helper()
	cmd := command(program, "write", path, engine)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for left := 1 + rand.IntN(150); lines.Scan(); left-- {
		count++
		tellCount(t, path, count)
		if left == 0 {
			_ = cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.Exited() {
		t.Errorf("writer by %s: %v", engine, err)
	}
	return count
}
