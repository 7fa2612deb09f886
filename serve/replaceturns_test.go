package serve_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
	"github.com/foliofs/folio/sqlitefile"
)

var replaceTurns = flag.Int("replace.turns", 12, "how often TestReplaceTurns replaces a volume that is served and written")

// A replacing puts a file in the place of a volume.
type replacing struct {
	name    string
	command []string // with NEW and OLD for the files
	absent  bool     // for a moment there is no file
	inPlace bool     // the file stays, with other content
}

var replacings = []replacing{
	{"mv", []string{"mv", "NEW", "OLD"}, false, false},
	{"mv both", []string{"sh", "-c", `mv "$1" "$1.aside" && mv "$0" "$1"`, "NEW", "OLD"}, true, false},
	{"rsync", []string{"rsync", "-a", "--ignore-times", "NEW", "OLD"}, false, false},
	{"cp", []string{"cp", "NEW", "OLD"}, false, true},
	{"rsync --inplace", []string{"rsync", "--inplace", "--ignore-times", "NEW", "OLD"}, false, true},
}

// TestReplaceTurns replaces volumes that are served and written, by clients and by another program
// that has the volume open. Each answer is of the old volume or of the new one. In the end the file
// holds the new one, with what was acknowledged since it is served.
func TestReplaceTurns(t *testing.T) {
	serve.LookEvery(t, 5*time.Millisecond)
	rng := rand.New(rand.NewPCG(7, uint64(time.Now().UnixNano())))
	for n := range *replaceTurns {
		way := replacings[n%len(replacings)]
		if _, err := exec.LookPath(way.command[0]); err != nil {
			continue
		}
		turn := &replaceTurn{T: t, n: n, rng: rng, dir: t.TempDir(), absent: way.absent, copied: n/len(replacings)%2 == 1}
		turn.run(way)
		if t.Failed() {
			t.Fatalf("in turn %d: %s, a copy that was changed: %v", n, way.name, turn.copied)
		}
	}
}

// A replaceTurn is one replacement.
type replaceTurn struct {
	*testing.T
	n      int
	rng    *rand.Rand
	dir    string
	absent bool // for a moment there is no volume
	copied bool // the new volume began as a copy of the old one
	server *serve.Server
	served atomic.Bool // the new volume
	done   chan struct{}

	writers sync.RWMutex // held by each write

	mu    sync.Mutex
	acked []string // files that were acknowledged since the new volume is served
}

const (
	turnFiles    = 20
	turnPatience = time.Minute // until the new volume is served
)

func (t *replaceTurn) path(name string) string { return filepath.Join(t.dir, name) }

// text returns the content of a file of a volume.
func turnText(volume string, i int) string {
	return strings.Repeat(fmt.Sprintf("%s %d\n", volume, i), 3000)
}

// fill gives all files the content that they have in a volume.
func (t *replaceTurn) fill(name, volume string) {
	t.Helper()
	vol, err := folio.Open(name, &folio.Options{Create: true})
	check(t, err)
	check(t, vol.Update(t.Context(), func(tx *folio.Tx) error {
		for i := range turnFiles {
			if err := tx.WriteFile(fmt.Sprintf("f%d", i), []byte(turnText(volume, i)), 0o644); err != nil {
				return err
			}
		}
		return tx.MkdirAll("w", 0o755)
	}))
	check(t, vol.Close())
}

func (t *replaceTurn) run(way replacing) {
	old, next := t.path("v.folio"), t.path("new.folio")
	t.fill(old, "old")
	if t.copied {
		data, err := os.ReadFile(old)
		check(t, err)
		check(t, os.WriteFile(next, data, 0o644))
	}
	t.fill(next, "new")
	t.server = newServer(t.T, nil, serve.Options{Write: true, Sources: []serve.Source{fileSource(old)}})
	t.done = make(chan struct{})
	var all sync.WaitGroup
	started := make(chan struct{}, 3)
	for _, work := range []func(began func()){t.put, t.get, t.write} {
		all.Go(func() { work(sync.OnceFunc(func() { started <- struct{}{} })) })
	}
	for range cap(started) {
		<-started
	}
	for range t.rng.IntN(100) {
		do(t.server, "GET", "/f0", "")
	}
	command := append([]string(nil), way.command...)
	for i, arg := range command {
		command[i] = strings.NewReplacer("NEW", next, "OLD", old).Replace(arg)
	}
	t.replace(way, old, command)
	for deadline := time.Now().Add(turnPatience); !t.Failed() && !t.showsNew(); {
		if time.Now().After(deadline) {
			t.Errorf("the new volume is not served after %v", turnPatience)
		}
	}
	t.served.Store(true)
	for range t.rng.IntN(200) {
		do(t.server, "GET", "/f0", "")
	}
	close(t.done)
	all.Wait()
	check(t, t.server.Close())
	t.look(old)
}

// replace runs the command. What is written over a file while a checkpoint copies to it cannot be
// told (docs/explanation/engine.md): such a command finds all of the log copied, and writers wait
// for it.
func (t *replaceTurn) replace(way replacing, old string, command []string) {
	if way.inPlace {
		t.writers.Lock()
		defer t.writers.Unlock()
		db, err := sqlitefile.Open(old, nil)
		check(t, err)
		check(t, db.Checkpoint(t.Context(), sqlitefile.CheckpointFull))
		check(t, db.Close())
	}
	if out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Errorf("%q: %v: %s", command, err, out)
	}
}

// showsNew reports whether the server shows the new volume.
func (t *replaceTurn) showsNew() bool {
	w := do(t.server, "GET", "/f1", "")
	return w.Code == 200 && strings.HasPrefix(w.Body.String(), "new ")
}

// put uploads files.
func (t *replaceTurn) put(began func()) {
	for i := 0; ; i++ {
		select {
		case <-t.done:
			return
		default:
		}
		served, name := t.served.Load(), fmt.Sprintf("w/p%d", i)
		t.writers.RLock()
		w := do(t.server, "PUT", "/"+name, turnText("put", i))
		t.writers.RUnlock()
		if w.Code < 300 {
			began()
			if served {
				t.mu.Lock()
				t.acked = append(t.acked, name)
				t.mu.Unlock()
			}
		}
	}
}

// get reads files. Each answer is wholly of one volume, and of the new one once that was served.
func (t *replaceTurn) get(began func()) {
	for i := 0; ; i++ {
		select {
		case <-t.done:
			return
		default:
		}
		k, served := i%turnFiles, t.served.Load()
		w := do(t.server, "GET", fmt.Sprintf("/f%d", k), "")
		text := w.Body.String()
		switch {
		case w.Code == 200 && (text == turnText("new", k) || text == turnText("old", k) && !served):
		case w.Code == 200 || w.Code == 404 && !t.absent || strings.Count(strings.TrimSpace(text), "\n") > 0:
			t.Errorf("f%d, new volume served: %v: status %d, %.100q", k, served, w.Code, text)
			return
		case served:
			t.Errorf("f%d: status %d, %q", k, w.Code, text)
			return
		}
		began()
	}
}

// write is another program that has the volume open, and opens it again after each error.
func (t *replaceTurn) write(began func()) {
	var vol *folio.Volume
	defer func() {
		if vol != nil {
			_ = vol.Close()
		}
	}()
	for i := 0; ; i++ {
		select {
		case <-t.done:
			return
		default:
		}
		var err error
		if vol == nil {
			if vol, err = folio.Open(t.path("v.folio"), &folio.Options{BusyTimeout: -1}); err != nil {
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("%q", err)
				}
				vol = nil
				continue
			}
		}
		t.writers.RLock()
		err = vol.WriteFile(fmt.Sprintf("w/l%d", i%100), []byte(turnText("lib", i)), 0o644)
		t.writers.RUnlock()
		if err == nil {
			began()
			continue
		}
		if errors.Is(err, folio.ErrBusy) {
			continue
		}
		_ = vol.Close()
		vol = nil
	}
}

// look looks at the file in the end.
func (t *replaceTurn) look(name string) {
	vol, err := folio.Open(name, nil)
	check(t, err)
	defer vol.Close()
	report, err := vol.Check(t.Context(), nil)
	check(t, err)
	if len(report.Problems) > 0 {
		t.Errorf("%v", report.Problems)
	}
	for i := range turnFiles {
		if data, err := vol.ReadFile(fmt.Sprintf("f%d", i)); err != nil || !bytes.Equal(data, []byte(turnText("new", i))) {
			t.Errorf("f%d is not the new one: %.100q, %v", i, data, err)
		}
	}
	for _, name := range t.acked {
		if _, err := vol.Stat(name); err != nil {
			t.Errorf("an upload that was acknowledged: %v", err)
		}
	}
}
