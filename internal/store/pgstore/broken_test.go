//go:build unix

package pgstore_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// A cutter stands between a Store and the server. It cuts a connection once, when so many pieces
// have passed from the Store to the server: before the last of them, instead of its answer, or in
// the middle of that.
type cutter struct {
	dir    string
	server string
	after  atomic.Int64 // pieces
	where  string
}

// Where a cutter cuts.
const (
	before  = "before"
	instead = "instead of the answer"
	amid    = "amid the answer"
)

func newCutter(t *testing.T, server string) *cutter {
	dir, err := os.MkdirTemp("/tmp", "cut") // the name of a socket is short
	must.Do(t, err)
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	must.Do(t, err)
	t.Cleanup(func() { _ = l.Close(); _ = os.RemoveAll(dir) })
	c := &cutter{dir: dir, server: server}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go c.serve(client)
		}
	}()
	return c
}

func (c *cutter) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", filepath.Join(c.server, ".s.PGSQL.5432"))
	if err != nil {
		return
	}
	defer server.Close()
	var half atomic.Bool // of an answer passes
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		defer client.Close()
		p := make([]byte, 1<<16)
		for {
			n, err := server.Read(p)
			if err != nil {
				return
			}
			last := half.Load()
			if last {
				n -= n / 3
			}
			if _, err := client.Write(p[:n]); err != nil || last {
				return
			}
		}
	}()
	p := make([]byte, 1<<16)
	for {
		n, err := client.Read(p)
		if err != nil {
			return
		}
		cut := c.after.Add(-1) == 0
		switch {
		case cut && c.where == before:
			return
		case cut && c.where == instead:
			_ = client.Close()
		case cut:
			half.Store(true)
		}
		if _, err := server.Write(p[:n]); err != nil {
			return
		}
		if cut {
			<-answered
			return
		}
	}
}

// TestCut cuts the connection in the middle of each statement of some calls. Each call must have
// happened as a whole or not at all, and have happened if it says so; the next one must work.
func TestCut(t *testing.T) {
	t.Parallel()
	server := pgserver.Shared(t)
	for _, where := range []string{before, instead, amid} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			address := pgserver.Volume(t)
			plain := volume(t, address)
			must.Do(t, plain.MkdirAll("a/b", 0o755))
			c := newCutter(t, server.Socket())
			c.where = where
			through := strings.Replace(address, server.Socket(), c.dir, 1)
			v := volumeAs(t, through, &pgstore.Options{MaxConns: 2}, nil)
			unknown := 0
			for k := range 12 {
				for i, call := range []func(name string) error{
					func(name string) error { return v.WriteFile(name, []byte(name), 0o644) },
					func(name string) error {
						return v.Update(context.Background(), func(tx *folio.Tx) error {
							if _, err := tx.ReadDir("a"); err != nil {
								return err
							}
							return tx.WriteFile(name, []byte(name), 0o644)
						})
					},
				} {
					name := fmt.Sprintf("a/b/%d-%d", k, time.Now().UnixNano())
					c.after.Store(int64(k))
					err := call(name)
					c.after.Store(0)
					if err != nil {
						unknown++
						if i == 0 && !errors.Is(err, pgstore.ErrUnknown) {
							t.Errorf("cut %d: a small change was not repeated: %v", k, err)
						}
						if strings.ContainsAny(err.Error(), "\n\t") {
							t.Errorf("not one line: %v", err)
						}
					}
					content, readErr := plain.ReadFile(name)
					if err == nil && readErr != nil || readErr == nil && (string(content) != name || err != nil && !errors.Is(err, pgstore.ErrUnknown)) || readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
						t.Errorf("cut %d: %v; then %q, %v", k, err, content, readErr)
					}
					if _, err := v.Stat("a"); err != nil {
						t.Errorf("the next call after cut %d: %v", k, err)
					}
				}
			}
			if unknown == 0 {
				t.Error("nothing was cut")
			}
			report, err := plain.Check(context.Background(), nil)
			if err != nil || !report.OK() {
				t.Errorf("%+v, %v", report, err)
			}
		})
	}
}

// TestRestart crashes the server between and during calls. What has returned must be there.
func TestRestart(t *testing.T) {
	t.Parallel()
	server := pgserver.ForTest(t)
	v := volume(t, server.Address("test"))
	var mu sync.Mutex
	var done []string
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := 0; ; j++ {
				select {
				case <-stop:
					return
				default:
				}
				name := fmt.Sprintf("%d-%d", i, j)
				if v.WriteFile(name, []byte(name), 0o644) == nil {
					mu.Lock()
					done = append(done, name)
					mu.Unlock()
				}
			}
		})
	}
	works := func() {
		t.Helper()
		mu.Lock()
		before := len(done)
		mu.Unlock()
		eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(done) >= before+20 })
	}
	for range 3 {
		works()
		must.Do(t, server.Stop("immediate"))
		must.Do(t, server.Start())
	}
	works()
	close(stop)
	wg.Wait()
	for _, name := range done {
		if content, err := v.ReadFile(name); err != nil || string(content) != name {
			t.Fatalf("%s of %d: %q, %v", name, len(done), content, err)
		}
	}
	if report, err := v.Check(context.Background(), nil); err != nil || !report.OK() || len(done) == 0 {
		t.Errorf("%d files: %+v, %v", len(done), report, err)
	}
}

// TestDead lets a session die that has a file open. Another session removes it, and what it had
// open; then the first one wakes up.
func TestDead(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	dead := open(t, address, &pgstore.Options{Create: true, Lease: time.Minute})
	other := open(t, address, nil)
	var n store.Node
	must.Do(t, dead.Update(context.Background(), func(tx store.Tx) error {
		n = store.Node{Mode: store.ModeRegular, Nlink: 1}
		return errors.Join(tx.Insert(&n), tx.WriteAt(&n, []byte("content"), 0), tx.Put(&n), tx.Link(store.Root, store.Entry{Name: "file", Ino: n.Ino, Type: store.File}))
	}))
	must.Do(t, dead.Pin(n.Ino))
	pgstore.Sleep(dead)
	must.Do(t, other.Update(context.Background(), func(tx store.Tx) error {
		return errors.Join(tx.Unlink(store.Root, "file"), tx.Orphan(&n))
	}))
	must.Do(t, pgstore.Beat(other))
	exists := func() error {
		rx, err := other.Begin(context.Background())
		must.Do(t, err)
		defer rx.End()
		_, err = rx.Node(n.Ino)
		return err
	}
	if err := exists(); err != nil {
		t.Errorf("while the session lives: %v", err)
	}
	_, err := connect(t, address).Exec(context.Background(), "UPDATE session SET seen = seen - lease WHERE lease = '1 minute'")
	must.Do(t, err)
	must.Do(t, pgstore.Beat(other))
	if err := exists(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after its lease: %v", err)
	}
	must.Do(t, pgstore.Beat(dead))
	must.Do(t, dead.Update(context.Background(), func(tx store.Tx) error { return tx.SetXattr(store.Root, "user.a", []byte("a")) }))
	report, err := other.Check(context.Background(), nil)
	if err != nil || !report.OK() || report.Nodes != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

var wholeLooks = flag.Int("whole.looks", 3000, "looks at files that an Update changes")

// TestWhole changes 1,000 files in one Update, again and again, while readers with Stores of their
// own look at some of them: they must always be of one Update.
func TestWhole(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	writer := volume(t, address)
	const files, dirs = 1000, 10
	name := func(f int) string { return fmt.Sprintf("%d/%d", f%dirs, f) }
	for d := range dirs {
		must.Do(t, writer.Mkdir(fmt.Sprint(d), 0o755))
	}
	change := func(i int) error {
		return writer.Update(context.Background(), func(tx *folio.Tx) error {
			for f := range files {
				if err := tx.WriteFile(name(f), fmt.Appendf(nil, "%d", i), 0o644); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must.Do(t, change(0))
	var readers []*folio.Volume
	for range 20 {
		readers = append(readers, volumeAs(t, address, &pgstore.Options{ReadOnly: true, MaxConns: 1}, nil))
	}
	var wg sync.WaitGroup
	var looks, changes atomic.Int64
	more := func() bool { return (looks.Load() < int64(*wholeLooks) || changes.Load() < 3) && !t.Failed() }
	for i, reader := range readers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for ; more(); looks.Add(1) {
				err := reader.View(context.Background(), func(rx *folio.Rx) error {
					first, err := rx.ReadFile(name(r.IntN(files)))
					for range 2 {
						next, nextErr := rx.ReadFile(name(r.IntN(files)))
						if err = errors.Join(err, nextErr); err == nil && string(next) != string(first) {
							err = fmt.Errorf("an Update by halves: %s and %s", first, next)
						}
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for more() {
		must.Do(t, change(int(changes.Add(1))))
	}
	wg.Wait()
	t.Logf("%d looks at %d changes", looks.Load(), changes.Load())
}
