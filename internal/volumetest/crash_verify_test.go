package volumetest

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/osfile/crashfs"
	"github.com/foliofs/folio/internal/roottest"
	"github.com/foliofs/folio/sqlitefile"
)

// crashCounts has the counts of all of TestCrash.
var crashCounts struct {
	moments  atomic.Int64 // at which a crash was looked at
	images   atomic.Int64 // checked against the bounds of their moment
	opened   atomic.Int64 // of these; the rest are alike
	shell    atomic.Int64 // of these, by SQLite too
	advanced atomic.Int64 // of these, with a further call
	nested   atomic.Int64 // images of crashes in the recovery of images
}

func logCrashCounts(t *testing.T) {
	c := &crashCounts
	t.Logf("%d moments, %d images (%d opened, the others alike), %d by SQLite too, %d with a further call, %d nested",
		c.moments.Load(), c.images.Load(), c.opened.Load(), c.shell.Load(), c.advanced.Load(), c.nested.Load())
}

// Of a thousand images.
const (
	furtherShare = 100 // get a further call
	nestedShare  = 10  // are crashed while they are recovered
	shellShare   = 10  // are recovered by SQLite
	deathShare   = 10  // moments at which all processes die before the power fails
)

// A crashVerifier looks at the files of one load after crashes.
type crashVerifier struct {
	*crashLoad
	plan   crashfs.Plan
	seen   map[uint64][]string // states of the actors' directories, by the hash of the image
	failed int
	shell  string // SQLite's; empty if there is none
}

// verify checks about limit images of all moments in the history of l.
func (l *crashLoad) verify(limit int) {
	history := l.disk.History()
	v := &crashVerifier{crashLoad: l, plan: crashfs.FullPlan(l.rng.Uint64()), seen: make(map[uint64][]string)}
	v.shell, _ = exec.LookPath("sqlite3")
	count := 0
	for disk := range history.Crashes() {
		count += disk.Count(v.plan)
	}
	v.plan.Share = float64(limit) / float64(count)
	for disk := range history.Crashes() {
		crashCounts.moments.Add(1)
		for img := range disk.Images(v.plan) {
			if err := v.check(img, disk.At()); err != nil {
				v.report(history, disk, img, err)
			}
		}
		if v.rng.IntN(1000) < deathShare {
			if err := v.die(history, disk.At()); err != nil {
				v.report(history, disk, disk.All(), fmt.Errorf("all processes died: %w", err))
			}
		}
		if v.failed >= 3 {
			return
		}
	}
}

func (v *crashVerifier) report(h *crashfs.History, d *crashfs.Disk, img *crashfs.Image, err error) {
	v.t.Helper()
	v.failed++
	dir := v.t.ArtifactDir()
	for _, name := range img.Names() {
		must.Do(v.t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("crash-%d-%s", v.failed, filepath.Base(name))), img.File(name), 0o666))
	}
	v.t.Errorf("crash after operation %d with %s: %v\nimage in %s\nlast operations:\n%s",
		d.At(), img.How, err, dir, crashfs.Trace(h.Ops()[max(0, d.At()-25):d.At()], crashfs.Storage))
}

// check opens an image and compares it with the conditions. Images alike are opened once.
func (v *crashVerifier) check(img *crashfs.Image, at int) error {
	crashCounts.images.Add(1)
	hash := img.Hash()
	found, ok := v.seen[hash]
	if !ok {
		var err error
		if found, err = v.recover(img, at); err != nil {
			return err
		}
		v.seen[hash] = found
	}
	return v.within(found, at, img.How != "all")
}

// within compares the states of the actors' directories after a crash at an operation with the
// conditions.
func (v *crashVerifier) within(found []string, at int, power bool) error {
	var errs []error
	for i, a := range v.actors {
		low, high := a.bounds(at, power)
		if !slices.Contains(a.states[low:min(high+1, len(a.states))], found[i]) {
			errs = append(errs, a.stranger(found[i], low, high))
		}
	}
	return errors.Join(errs...)
}

// stranger describes a state that should not be there.
func (a *crashActor) stranger(found string, low, high int) error {
	where := "none that ever was"
	if i := slices.Index(a.states, found); i >= 0 {
		where = fmt.Sprintf("that after call %d, %s", i, a.said[i])
	}
	return fmt.Errorf("the state of %s is %s; want those after calls %d to %d:\n%s\nThe last of these differs in %s",
		a.top, where, low, high, strings.Join(a.said[low:min(high+1, len(a.said))], "\n"), roottest.Difference(found, a.states[min(high, len(a.states)-1)]))
}

// recover opens an image, checks it, and sometimes goes on with it.
func (v *crashVerifier) recover(img *crashfs.Image, at int) (found []string, err error) {
	crashCounts.opened.Add(1)
	disk := img.FS()
	found, after, err := v.reopen(disk, v.rng.IntN(1000) < furtherShare)
	if err == nil && disk.Handles()+disk.Locks()+disk.Mappings() > 0 {
		err = fmt.Errorf("closed, with %d handles, %d locks, %d mappings", disk.Handles(), disk.Locks(), disk.Mappings())
	}
	if _, ok, _ := disk.Exists(v.path + "-wal"); ok && err == nil {
		err = errors.New("closed, and the log is there")
	}
	if err == nil && v.rng.IntN(1000) < shellShare && v.shell != "" {
		err = v.recoverElsewhere(img, found)
	}
	if err == nil && v.rng.IntN(1000) < nestedShare {
		err = v.crashAgain(disk, 0, at, found, after)
	}
	return found, err
}

// A sequel has the directories after a further call that was synced.
type sequel struct {
	states []string
	acked  int // by then
}

// reopen opens the volume on a disk and returns the actors' directories, and, if wanted, those
// after a further call.
func (v *crashVerifier) reopen(disk *crashfs.FS, further bool) (found []string, after *sequel, err error) {
	v.mount(disk)
	vol, err := folio.Open(v.path, &folio.Options{NoMmap: v.options.NoMmap})
	if err != nil {
		return nil, nil, err
	}
	found, err = v.sound(vol)
	if err == nil && further {
		if after, err = v.goOn(vol, disk); err != nil {
			err = fmt.Errorf("a further call: %w", err)
		}
	}
	return found, after, errors.Join(err, vol.Close())
}

// sound checks a volume and returns its directories.
func (v *crashVerifier) sound(vol *folio.Volume) (found []string, err error) {
	report, err := vol.Check(v.t.Context(), nil)
	if err != nil || !report.OK() {
		return nil, fmt.Errorf("check: %w, %+v", err, report)
	}
	inos := make(map[uint64]bool)
	if _, err := StateOf(vol, ".", inos); err != nil {
		return nil, err
	}
	if err := v.addBases(inos); err != nil {
		return nil, err
	}
	if int64(len(inos)) != report.Nodes {
		return nil, fmt.Errorf("%d inodes, of which %d have a name or clones", report.Nodes, len(inos))
	}
	for _, a := range v.actors {
		text, err := v.state(vol, a.top, inos)
		if err != nil {
			return nil, err
		}
		found = append(found, text)
	}
	return found, nil
}

// addBases adds the inodes whose content clones share: they stay when they have lost their name.
func (v *crashVerifier) addBases(inos map[uint64]bool) error {
	db, err := sqlitefile.Open(v.path, nil)
	if err != nil {
		return err
	}
	err = db.View(v.t.Context(), func(rx *sqlitefile.Rx) error {
		origins, err := rx.Table("origin")
		if errors.Is(err, sqlitefile.ErrNoTable) {
			return nil
		}
		if err != nil {
			return err
		}
		for row, err := range origins.All() {
			if err != nil {
				return err
			}
			base, err := row.Value(1)
			if err != nil {
				return err
			}
			inos[uint64(base.Int64())] = true
		}
		return nil
	})
	return errors.Join(err, db.Close())
}

// goOn makes a further call in each directory, and syncs.
func (v *crashVerifier) goOn(vol *folio.Volume, disk *crashfs.FS) (*sequel, error) {
	crashCounts.advanced.Add(1)
	err := vol.Update(v.t.Context(), func(tx *folio.Tx) error {
		for _, a := range v.actors {
			if err := tx.WriteFile(a.top+"/after", []byte("the crash"), 0o644); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = vol.Sync(v.t.Context())
	}
	if err != nil {
		return nil, err
	}
	after := &sequel{acked: disk.Count()}
	after.states, err = v.sound(vol)
	if err == nil && v.rng.IntN(2) == 0 {
		err = v.crashNow(disk, after)
	}
	return after, err
}

// crashNow lets the power fail after the further call.
func (v *crashVerifier) crashNow(disk *crashfs.FS, after *sequel) error {
	defer v.mount(disk)
	found, _, err := v.reopen(disk.History().End().None().FS(), false)
	if err == nil && !slices.Equal(found, after.states) {
		err = errors.New("what was synced after the first crash is not there after the second")
	}
	return err
}

// crashAgain lets the power fail at each moment of a disk's history from an operation on: that of
// the recovery from a crash at an operation of the load. A log that has lost its end may get it
// back until something is written there.
func (v *crashVerifier) crashAgain(disk *crashfs.FS, from, at int, found []string, after *sequel) error {
	history := disk.History()
	if after == nil {
		after = &sequel{states: found, acked: math.MaxInt}
	}
	for d := range history.Crashes() {
		if d.At() < from {
			continue
		}
		for img := range d.Images(crashfs.Plan{Seed: v.plan.Seed, Single: 3, Subsets: 3, Garbage: 1, Names: 2}) {
			crashCounts.nested.Add(1)
			again, _, err := v.reopen(img.FS(), false)
			if err == nil && !slices.Equal(again, after.states) {
				err = v.within(again, at, true)
				if d.At() >= after.acked {
					err = errors.Join(errors.New("what was synced is not there"), err)
				}
			}
			if err != nil {
				return fmt.Errorf("crash after operation %d of the recovery, with %s: %w\n%s",
					d.At(), img.How, err, crashfs.Trace(history.Ops()[from:d.At()], crashfs.Storage))
			}
		}
	}
	return nil
}

// die lets all processes die at a moment. The next process finds everything that was written,
// synced or not. Then the power fails, at each moment of the work of that process.
func (v *crashVerifier) die(h *crashfs.History, at int) error {
	disk := h.Fork(at)
	found, after, err := v.reopen(disk, true)
	if err == nil {
		err = v.within(found, at, false)
	}
	if err != nil {
		return err
	}
	return v.crashAgain(disk, at, at, found, after)
}

// recoverElsewhere lets SQLite recover an image on a real disk: it finds nothing wrong, and leaves
// the same.
func (v *crashVerifier) recoverElsewhere(img *crashfs.Image, want []string) error {
	crashCounts.shell.Add(1)
	dir, err := os.MkdirTemp(v.t.TempDir(), "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, name := range img.Names() {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), img.File(name), 0o666); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, filepath.Base(v.path))
	out, err := exec.Command(v.shell, "-batch", path, "PRAGMA integrity_check").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "ok" {
		return fmt.Errorf("SQLite: %w: %s", err, out)
	}
	vol, err := folio.Open(path, nil)
	if err != nil {
		return err
	}
	found, err := v.sound(vol)
	if err == nil && !slices.Equal(found, want) {
		err = errors.New("SQLite has recovered something else")
	}
	return errors.Join(err, vol.Close())
}
