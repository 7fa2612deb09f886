//go:build unix

package pgstore_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/pgstore"
)

// clientVariable makes the test binary a client of a history, which its value describes.
const clientVariable = "FOLIO_HISTORY_CLIENT"

// A historyClient is a process that makes random operations.
type historyClient struct {
	Address string
	Number  int // differs from those of all other processes of the history
	Threads int // goroutines
	Ops     int // of each
	Seed    uint64
	Stale   time.Duration // pgstore.Options.MaxStaleness
}

// A historyEvent is the call or the return of an operation.
type historyEvent struct {
	Client, Number int
	Time           int64          // of a clock that all processes share
	In             *historyInput  `json:",omitempty"` // of a call
	Stale          time.Duration  `json:",omitempty"` // of a call: how old what it reads may be
	Out            *historyOutput `json:",omitempty"` // of a return; Err may be failed
}

// failed is the outcome of an operation that has not happened.
const failed = "failed"

// run makes operations once it is told to begin, and writes events to standard output.
func (c *historyClient) run() {
	v, err := openHistory(c.Address, c.Stale)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return
	}
	var wg sync.WaitGroup
	for i := range c.Threads {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(c.Seed, uint64(i)))
			for n := range c.Ops {
				e := historyEvent{Client: c.Number*10 + i, Number: n}
				in := randomInput(r, fmt.Sprintf("%d.%d;", e.Client, n))
				e.In, e.Stale = &in, c.Stale
				e.emit()
				out := perform(v, in)
				e.In, e.Stale, e.Out = nil, 0, &out
				e.emit()
			}
		})
	}
	wg.Wait()
	if err := v.Close(); err != nil {
		log.Fatal(err)
	}
}

// openHistory opens the volume of a history, even if the server is down at first.
func openHistory(address string, stale time.Duration) (v *folio.Volume, err error) {
	within(10*time.Second, func() bool {
		var s *pgstore.Store
		if s, err = pgstore.Open(context.Background(), address, &pgstore.Options{Create: true, MaxConns: 3, BusyTimeout: 25 * time.Second, MaxStaleness: stale}); err == nil {
			v, err = folio.OpenStore(private.Key{}, s, nil)
		}
		return err == nil
	})
	return v, err
}

// emit writes an event by one system call, so that it is in the pipe when the process is killed.
func (e *historyEvent) emit() {
	e.Time = now()
	line, err := json.Marshal(e)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
		log.Fatal(err)
	}
}

// now returns the time of a clock that all processes share, and that nobody sets.
func now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		log.Fatal(err)
	}
	return ts.Nano()
}

// historyPaths are the paths of all operations. Each of them may be a file or a directory.
var historyPaths = strings.Fields("a b c d e d/a d/b e/a e/b")

// randomInput returns an operation that writes text, if it writes.
func randomInput(r *rand.Rand, text string) historyInput {
	ops := strings.Fields("create write write read read read append append copy two stat list mkdir rename rename remove link")
	in := historyInput{Op: ops[r.IntN(len(ops))], A: historyPaths[r.IntN(len(historyPaths))]}
	switch in.Op {
	case "mkdir", "list":
		if r.IntN(4) > 0 {
			in.A = [...]string{"d", "e"}[r.IntN(2)]
		}
	case "write", "append":
		in.Text = text
	case "copy", "two", "rename", "link":
		in.B = historyPaths[r.IntN(len(historyPaths))]
	}
	return in
}

// perform makes an operation on a volume.
func perform(v *folio.Volume, in historyInput) historyOutput {
	text, err := "", error(nil)
	switch in.Op {
	case "create":
		var f *folio.File
		if f, err = v.OpenFile(in.A, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
			err = f.Close()
		}
	case "write":
		err = v.WriteFile(in.A, []byte(in.Text), 0o644)
	case "read":
		var p []byte
		p, err = v.ReadFile(in.A)
		text = string(p)
	case "two":
		var p, q []byte
		err = v.View(context.Background(), func(rx *folio.Rx) (err error) {
			if p, err = rx.ReadFile(in.A); err == nil {
				q, err = rx.ReadFile(in.B)
			}
			return err
		})
		text = string(p) + " and " + string(q)
	case "append":
		err = rewrite(v, in.A, in.A, in.Text)
	case "copy":
		err = rewrite(v, in.A, in.B, "")
	case "stat":
		var info fs.FileInfo
		if info, err = v.Stat(in.A); err == nil {
			text = "directory"
			if !info.IsDir() {
				text = fmt.Sprintf("file of %d, %d names", info.Size(), info.Sys().(*folio.Node).Nlink)
			}
		}
	case "list":
		var entries []fs.DirEntry
		entries, err = v.ReadDir(in.A)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		text = strings.Join(names, " ")
	case "mkdir":
		err = v.Mkdir(in.A, 0o755)
	case "rename":
		err = v.Rename(in.A, in.B)
	case "remove":
		err = v.Remove(in.A)
	case "link":
		err = v.Link(in.A, in.B)
	}
	return answer(text, errorKind(err))
}

// rewrite writes what is in a file, and text, to another in one transaction.
func rewrite(v *folio.Volume, from, to, text string) error {
	return v.Update(context.Background(), func(tx *folio.Tx) error {
		p, err := tx.ReadFile(from)
		if err != nil {
			return err
		}
		return tx.WriteFile(to, append(p, text...), 0o644)
	})
}

// errorKind says in a word what an error of an operation means.
func errorKind(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, pgstore.ErrUnknown):
		return unknown
	}
	for _, kind := range []struct {
		err  error
		word string
	}{
		{syscall.ENOTEMPTY, "not empty"},
		{fs.ErrNotExist, "not there"},
		{fs.ErrExist, "there"},
		{syscall.ENOTDIR, "no directory"},
		{syscall.EISDIR, "directory"},
		{fs.ErrInvalid, "invalid"},
		{fs.ErrPermission, "not permitted"},
		{folio.ErrDamaged, "damaged"}, // which no order explains
	} {
		if errors.Is(err, kind.err) {
			return kind.word
		}
	}
	fmt.Fprintln(os.Stderr, "an operation of a history failed:", err)
	return failed
}
