package volumetest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/invariant"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/crashfs"
	"github.com/foliofs/folio/internal/osfile/ordercheck"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/roottest"
	"github.com/foliofs/folio/sqlitefile"
)

var (
	crashImages = flag.Int("crash.images", 250, "images of each case of TestCrash")
	crashSeeds  = flag.Int("crash.seeds", 1, "how many seeds each case of TestCrash is run with")
)

// A crashCase is a volume and how it is used.
type crashCase struct {
	name     string
	steps    int
	options  folio.Options
	maps     bool
	rollback bool // no process could give the volume a log
	synced   bool // each call is followed by a Sync
	history  bool // with snapshots, made and removed
	clones   bool // many files are cloned, and most are long enough to share content
	actors   int  // goroutines, each with a directory and a connection of its own; 0 is one with the whole volume
}

var crashCases = []crashCase{
	{name: "log", steps: 120},
	{name: "log, mapped", steps: 120, maps: true},
	{name: "first calls", steps: 3, synced: true},
	{name: "synced", steps: 60, synced: true},
	{name: "plain", steps: 60, options: folio.Options{NoMmap: true, CacheSize: -1}},
	{name: "rollback", steps: 60, rollback: true},
	{name: "rollback, synced", steps: 30, rollback: true, synced: true},
	{name: "concurrent", steps: 25, actors: 4},
	{name: "snapshots", steps: 60, history: true},
	{name: "rollback, snapshots", steps: 30, rollback: true, history: true},
	{name: "clones", steps: 60, clones: true},
	{name: "clones, snapshots", steps: 40, clones: true, history: true},
	{name: "rollback, clones", steps: 30, rollback: true, clones: true},
}

// TestCrash crashes volumes at each moment of their use, in all the ways of package crashfs, and
// looks at the files afterwards. The volume must open, and Check must find no fault. Each call must
// have happened as a whole or not at all. Before a call that is there, none may be missing. Synced
// calls must be there, and files without a name must be gone, but for those whose content clones
// share. Soak:
//
//	go test ./internal/volumetest -run TestCrash -crash.images 5000 -crash.seeds 3 -timeout 0
func TestCrash(t *testing.T) {
	t.Cleanup(func() { logCrashCounts(t) })
	r := random.New(t)
	for i := range crashCases {
		if i%InQuick(4, 1) != 0 {
			continue
		}
		c, r := &crashCases[i], random.From(r)
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for range *crashSeeds {
				l := newCrashLoad(t, c, random.From(r))
				l.run()
				if !testing.Short() || !invariant.Enabled { // the race detector looks at how it runs, not at what a crash leaves
					l.verify(min(InQuick(10, *crashImages), *crashImages))
				}
			}
		})
	}
}

// A crashLoad is a crashCase at work, and the conditions for its volume at each moment.
type crashLoad struct {
	*crashCase
	t      *testing.T
	rng    *rand.Rand
	path   string
	disk   *crashfs.FS
	actors []*crashActor
}

// A crashActor changes files below its own directory. No other actor does.
type crashActor struct {
	crashCaller
	load *crashLoad
	top  string // its directory
	v    *folio.Volume

	states  []string // its directory after each call
	said    []string // the calls
	begun   []event
	acked   []event
	secured []event
	durable bool // the call that just returned has synced its changes
}

// An event says that something holds for a state from an operation on.
type event struct{ state, at int }

// newCrashLoad makes the volume, on a disk whose history begins with it.
func newCrashLoad(t *testing.T, c *crashCase, r *rand.Rand) *crashLoad {
	t.Helper()
	l := &crashLoad{crashCase: c, t: t, rng: r, path: mountPoint(t) + "/v.folio"}
	files := []Entry{{"a", "first", 0o644}, {"b/c", "second", 0o600}}
	for i := range c.actors {
		files = append(files, Entry{fmt.Sprint("actor", i, "/a"), "first", 0o644})
	}
	path := filepath.Join(t.TempDir(), "v.folio")
	must.Do(t, folio.Create(t.Context(), path, nil, AddAll(files...)))
	data, err := os.ReadFile(path)
	must.Do(t, err)
	var options []crashfs.Option
	if c.maps {
		options = append(options, crashfs.WithMaps())
	}
	l.disk = crashfs.New()
	must.Do(t, l.disk.WriteFile(l.path, data))
	l.disk = l.disk.History().End().None().FS(options...)
	l.mount(ordercheck.New(l.disk, false, func(err error) { t.Error(err) }))
	for i := range max(1, c.actors) {
		a := &crashActor{load: l, top: ".", crashCaller: crashCaller{Rand: random.From(r), clones: c.clones}}
		if c.actors > 0 {
			a.top = fmt.Sprint("actor", i)
			a.dir = a.top + "/"
		}
		l.actors = append(l.actors, a)
		a.v = l.open()
		a.note("")
	}
	return l
}

func (l *crashLoad) mount(sys osfile.System) { mounts.mount(filepath.Dir(l.path), sys) }

func (l *crashLoad) open() *folio.Volume {
	l.t.Helper()
	o := l.options
	if l.rollback {
		o.BusyTimeout = time.Second / 2
		defer l.keepRollback()()
	}
	v, err := folio.Open(l.path, &o)
	must.Do(l.t, err)
	if l.rollback {
		must.Do(l.t, v.Update(l.t.Context(), func(*folio.Tx) error { return nil })) // prepares the volume
	}
	return v
}

// keepRollback keeps volumes from getting a log until the result is called.
func (l *crashLoad) keepRollback() func() {
	db, err := sqlitefile.Open(l.path, nil)
	must.Do(l.t, err)
	rx, err := db.BeginView(l.t.Context())
	must.Do(l.t, err)
	return func() { rx.End(); must.Do(l.t, db.Close()) }
}

// run lets the actors act.
func (l *crashLoad) run() {
	var wg sync.WaitGroup
	for _, a := range l.actors {
		wg.Go(func() {
			for range l.steps {
				a.step()
			}
			if err := a.closeAll(); err != nil {
				l.t.Error(err)
			}
			a.sync()
		})
	}
	wg.Wait()
	for _, a := range l.actors {
		must.Do(l.t, a.v.Close())
	}
}

// step makes a call, or something else.
func (a *crashActor) step() {
	switch a.IntN(24) {
	case 0:
		a.sync()
	case 1:
		a.checkpoint()
	case 2:
		if len(a.load.actors) == 1 {
			a.reopen()
		}
	case 3:
		if len(a.load.actors) == 1 { // as this disk does not tell who else has a file open
			a.compact()
		}
	case 4, 5, 6:
		a.do(a.update)
	case 8, 9, 10:
		if a.load.history {
			a.do(a.snapshot)
		}
	case 7:
		a.do(a.openSync)
	default:
		a.do(func() string { return a.call(a.v) })
	}
	if a.load.synced {
		a.sync()
	}
}

// do notes a call from its begin to its end.
func (a *crashActor) do(call func() string) {
	a.begun = append(a.begun, event{len(a.states), a.load.disk.Count()})
	a.durable = false
	said := call()
	done := event{len(a.states), a.load.disk.Count()}
	a.acked = append(a.acked, done)
	if a.durable {
		a.secured = append(a.secured, done)
	}
	a.note(said)
}

// note notes the state after a call.
func (a *crashActor) note(said string) {
	text, err := a.load.state(a.v, a.top, map[uint64]bool{})
	if err != nil {
		a.load.t.Error(err)
	}
	a.states, a.said = append(a.states, text), append(a.said, said)
}

// secure notes that the last state is on disk.
func (a *crashActor) secure() {
	a.secured = append(a.secured, event{len(a.states) - 1, a.load.disk.Count()})
}

func (a *crashActor) sync() {
	if err := a.v.Sync(context.Background()); err != nil {
		a.load.t.Error(err)
	}
	a.secure()
}

// state describes a directory of the volume, and the whole of its snapshots.
func (l *crashLoad) state(v *folio.Volume, top string, inos map[uint64]bool) (string, error) {
	text, err := StateOf(v, top, inos)
	if err != nil || !l.history {
		return text, err
	}
	list, err := v.Snapshots(context.Background())
	for _, s := range list {
		at, err := v.OpenSnapshot(context.Background(), s.Name)
		if err != nil {
			return text, err
		}
		past, err := StateOf(at, ".", map[uint64]bool{})
		if err = errors.Join(err, at.Close()); err != nil {
			return text, err
		}
		text += "snapshot " + s.Name + "\n" + past
	}
	return text, err
}

// snapshot makes, restores or removes a snapshot.
func (a *crashActor) snapshot() string {
	name := random.Letter(a.Rand)
	switch a.IntN(6) {
	case 0, 1:
		return said(a.v.RemoveSnapshot(context.Background(), name), "RemoveSnapshot %s", name)
	case 2:
		return said(must.Second(a.v.Restore(context.Background(), name, ".", nil)), "Restore %s", name)
	}
	return said(a.v.CreateSnapshot(context.Background(), name), "Snapshot %s", name)
}

var errRollback = errors.New("on purpose")

// update makes many calls as one, or none of them.
func (a *crashActor) update() string {
	all := "Update:"
	inner := crashCaller{Rand: a.Rand, dir: a.dir}
	back := a.IntN(4) == 0
	err := a.v.Update(context.Background(), func(tx *folio.Tx) error {
		for range 1 + a.IntN(6) {
			all += " " + inner.call(tx) + ";"
		}
		if back {
			return errRollback
		}
		return nil
	})
	spoiled := !back && err != nil && strings.Contains(all, "Merge") // a Merge that fails half-way cannot be taken back alone
	if back != errors.Is(err, errRollback) || !back && err != nil && !spoiled {
		a.load.t.Errorf("%s: %v", all, err)
	}
	if back || spoiled {
		a.unchanged("the rollback of " + all)
	}
	return fmt.Sprint(all, err)
}

// openSync writes with O_SYNC.
func (a *crashActor) openSync() string {
	f, err := a.v.OpenFile(a.name(), os.O_WRONLY|os.O_SYNC, 0)
	if err != nil {
		return said(err, "OpenFile O_SYNC")
	}
	n, err := f.Write(a.data())
	a.durable = n > 0 && err == nil
	return said(errors.Join(err, f.Close()), "Write %s O_SYNC", f.Name())
}

// checkpoint copies the log into the database.
func (a *crashActor) checkpoint() {
	db, err := sqlitefile.Open(a.load.path, nil)
	if err != nil {
		a.load.t.Error(err)
		return
	}
	if err := db.Checkpoint(context.Background(), sqlitefile.CheckpointMode(a.IntN(4))); err != nil && !errors.Is(err, sqlitefile.ErrBusy) {
		a.load.t.Error(err)
	}
	if err := db.Close(); err != nil {
		a.load.t.Error(err)
	}
}

// reopen closes the volume, which copies the log to where it is on disk, and opens it again.
func (a *crashActor) reopen() {
	if err := errors.Join(a.closeAll(), a.v.Close()); err != nil {
		a.load.t.Error(err)
	}
	if !a.load.rollback {
		a.secure()
	}
	a.v = a.load.open()
	a.unchanged("reopening")
}

// compact makes the volume as small as it can be, which puts everything on disk, unless another
// actor has it open.
func (a *crashActor) compact() {
	err := a.v.Compact(context.Background(), nil)
	switch {
	case err == nil && !a.load.rollback:
		a.secure()
	case err != nil && !errors.Is(err, sqlitefile.ErrBusy):
		a.load.t.Error(err)
	}
	a.unchanged("compacting")
}

// unchanged checks that something has changed nothing.
func (a *crashActor) unchanged(by string) {
	text, err := a.load.state(a.v, a.top, map[uint64]bool{})
	if last := a.states[len(a.states)-1]; err != nil || text != last {
		a.load.t.Errorf("%s has changed something, %v: %s", by, err, roottest.Difference(text, last))
	}
}

// bounds returns the first and the last state in which the directory can be after a crash at an
// operation, when all processes died, or the power failed.
func (a *crashActor) bounds(at int, power bool) (low, high int) {
	low, high = last(a.acked, at), max(last(a.begun, at), last(a.acked, at))
	if power {
		low = last(a.secured, at)
	}
	return low, high
}

func last(events []event, at int) (state int) {
	for _, e := range events {
		if e.at <= at {
			state = max(state, e.state)
		}
	}
	return state
}
