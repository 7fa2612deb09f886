package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile/crashfs"
	"github.com/foliofs/folio/internal/osfile/ordercheck"
)

// crashCounts counts what all crash tests of a run did.
var crashCounts struct {
	moments  atomic.Int64               // at which a crash was looked at
	images   atomic.Int64               // checked against the bounds of their moment
	ways     [crashfs.Ways]atomic.Int64 // these, by what became of what was not synced
	opened   atomic.Int64               // of these, opened: the rest are alike
	nested   atomic.Int64               // images of crashes in the recovery of images
	full     atomic.Int64               // of those opened, on a disk without room first
	deaths   atomic.Int64               // images of crashes after the recovery from the death of all processes
	advanced atomic.Int64               // on which a further transaction was committed
}

// A crashVerifier opens the images of one load.
type crashVerifier struct {
	*crashLoad
	plan   crashfs.Plan
	seen   map[uint64]int64 // versions by the hash of the image
	failed int
	nested float64 // the part of images whose recoveries are crashed
	rng    *rand.Rand
}

// verify checks about limit images of all moments in the history of l, and crashes the recovery of
// some of them.
func (l *crashLoad) verify(seed uint64, limit, nested int) {
	l.t.Helper()
	history := l.fs.History()
	v := newCrashVerifier(l, history, seed, limit, nested)
	for disk := range history.Crashes() {
		crashCounts.moments.Add(1)
		for img := range v.images(disk) {
			if v.failed >= 3 {
				return
			}
			low, high := l.bounds(disk.At(), img.How != "all")
			if err := v.check(img, low, high); err != nil {
				v.report(history, disk, img.How, img, err)
			}
		}
		if v.rng.IntN(100) < deathPercent {
			if err := v.die(history, disk.At()); err != nil {
				v.report(history, disk, "the death of all processes", disk.All(), err)
			}
		}
	}
}

func newCrashVerifier(l *crashLoad, h *crashfs.History, seed uint64, limit, nested int) *crashVerifier {
	v := &crashVerifier{crashLoad: l, plan: crashfs.FullPlan(seed), seen: make(map[uint64]int64), rng: rand.New(rand.NewPCG(seed, 2))}
	v.share(h, limit, nested)
	return v
}

// share takes so many images of all, and crashes the recovery of nested of them.
func (v *crashVerifier) share(h *crashfs.History, limit, nested int) {
	count := 0
	for disk := range h.Crashes() {
		if v.durability == DurabilityOff {
			count++
		} else {
			count += disk.Count(v.plan)
		}
	}
	v.plan.Share = float64(limit) / float64(count)
	v.nested = float64(nested) / float64(min(count, limit))
}

// deathPercent is at how many moments of a hundred the processes die before the power fails.
const deathPercent = 1

// images returns the images that durability promises anything for.
func (v *crashVerifier) images(d *crashfs.Disk) func(func(*crashfs.Image) bool) {
	if v.durability == DurabilityOff {
		return func(yield func(*crashfs.Image) bool) { yield(d.All()) }
	}
	return d.Images(v.plan)
}

func (v *crashVerifier) report(h *crashfs.History, d *crashfs.Disk, how string, img *crashfs.Image, err error) {
	v.t.Helper()
	v.failed++
	dir := v.t.ArtifactDir()
	for _, name := range img.Names() {
		file := filepath.Join(dir, fmt.Sprintf("crash-%d-%s", v.failed, filepath.Base(name)))
		if err := os.WriteFile(file, img.File(name), 0o666); err != nil {
			v.t.Log(err)
		}
	}
	from := max(0, d.At()-25)
	v.t.Errorf("crash after operation %d with %s: %v\nimage in %s\nlast operations:\n%s",
		d.At(), how, err, dir, crashfs.Trace(h.Ops()[from:d.At()], crashfs.Storage))
}

// check opens an image and compares it with what must be there. Images alike are opened once.
func (v *crashVerifier) check(img *crashfs.Image, low, high int64) error {
	crashCounts.images.Add(1)
	crashCounts.ways[img.Way].Add(1)
	hash := img.Hash()
	version, ok := v.seen[hash]
	if !ok {
		var err error
		if version, err = v.open(img); err != nil {
			return err
		}
		v.seen[hash] = version
	}
	if version < low || version > high {
		return fmt.Errorf("has the transactions up to %d, want %d to %d", version, low, high)
	}
	return nil
}

// open recovers an image, checks it, and goes on with it.
func (v *crashVerifier) open(img *crashfs.Image) (version int64, err error) {
	crashCounts.opened.Add(1)
	sys := v.disk(img)
	if err := v.openFull(sys); err != nil {
		return 0, fmt.Errorf("on a full disk: %w", err)
	}
	db, err := Open(crashPath, v.recoveryOptions(sys))
	if err != nil {
		return 0, fmt.Errorf("open: %w", err)
	}
	state, err := v.sound(db)
	if err != nil {
		return 0, dberr.Join(err, db.Close())
	}
	nest := v.rng.Float64() < v.nested
	var after *sequel
	if nest || v.rng.IntN(4) == 0 {
		if after, err = v.goOn(sys, db, state); err != nil {
			return 0, dberr.Join(fmt.Errorf("a further transaction: %w", err), db.Close())
		}
	}
	if err := v.close(sys, db); err != nil {
		return 0, fmt.Errorf("close: %w", err)
	}
	if sys.Handles()+sys.Locks()+sys.Mappings() > 0 {
		return 0, fmt.Errorf("closed, with %d handles, %d locks, %d mappings", sys.Handles(), sys.Locks(), sys.Mappings())
	}
	if _, ok, _ := sys.Exists(crashPath + "-wal"); ok {
		return 0, errors.New("closed, and the log is there")
	}
	if nest {
		err = v.crashAgain(after, crashfs.Plan{Seed: v.plan.Seed, Single: 3, Subsets: 3, Garbage: 1, Names: 2}, &crashCounts.nested)
	}
	return state.version, err
}

func (v *crashVerifier) recoveryOptions(sys *crashfs.FS) *Options {
	o := &Options{JournalMode: v.journal, BusyTimeout: 10 * time.Second, Exclusive: v.exclusive && v.rng.IntN(2) == 0}
	o.system = ordercheck.New(sys, false, v.breach)
	if v.durability == DurabilityExtra {
		o.Durability = DurabilityExtra
	}
	return o
}

// sound returns the state of a database that Check finds no fault with and that was
// committed.
func (v *crashVerifier) sound(db *DB) (state *crashState, err error) {
	report, err := db.Check(context.Background(), nil)
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	if !report.OK() {
		return nil, fmt.Errorf("check: %v", report.Problems)
	}
	if state, err = v.content(db); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if n := state.version; n < 0 || n >= int64(len(v.digests)) || state.digest() != v.digests[n] {
		return nil, fmt.Errorf("the content is not that of transaction %d", n)
	}
	return state, nil
}

// A sequel is what came after a crash: a recovery found some version, and committed one more
// transaction. What another crash can leave of it is that transaction; until it was acknowledged,
// also what was there before. A log that lost its end may get it back as long as nothing is written
// there.
type sequel struct {
	sys       *crashfs.FS
	from      int // the operation that it begins with
	low, high int64
	next      *crashState
	acked     int // the operation after which next must be there
}

// goOn commits a further transaction, which cannot be mistaken for a lost transaction.
func (v *crashVerifier) goOn(sys *crashfs.FS, db *DB, state *crashState) (*sequel, error) {
	crashCounts.advanced.Add(1)
	next := state.clone()
	next.version += 1000
	err := db.Update(context.Background(), func(tx *Tx) error { return next.advance(tx, v.rng, 2) })
	if err != nil {
		return nil, err
	}
	after := &sequel{sys: sys, low: state.version, high: state.version, next: next, acked: sys.Count()}
	if v.wal {
		after.high = int64(len(v.digests)) - 1
	}
	if v.late(db.options.Durability) != 0 {
		after.acked = math.MaxInt
	}
	if err := sameState(db, next); err != nil || after.acked == math.MaxInt {
		return after, err
	}
	err = v.recoverAgain(sys.History().End().None(), func(s *crashState) bool { return s.digest() == next.digest() })
	if err != nil {
		err = fmt.Errorf("crash after it: %w", err)
	}
	return after, err
}

func sameState(db *DB, want *crashState) error {
	return db.View(context.Background(), func(rx *Rx) error {
		got, err := readCrashState(rx)
		if err == nil && got.digest() != want.digest() {
			err = fmt.Errorf("version %d is there, want %d", got.version, want.version)
		}
		return err
	})
}

// crashAgain lets the power fail at each moment of a sequel.
func (v *crashVerifier) crashAgain(after *sequel, plan crashfs.Plan, count *atomic.Int64) error {
	history := after.sys.History()
	for disk := range history.Crashes() {
		if disk.At() < after.from {
			continue
		}
		for img := range disk.Images(plan) {
			count.Add(1)
			err := v.recoverAgain(img, func(s *crashState) bool { return v.follows(after, s, disk.At()) })
			if err != nil {
				return fmt.Errorf("crash after operation %d, the recovery from the first one, with %s: %w\n%s",
					disk.At(), img.How, err, indent(crashfs.Trace(history.Ops()[after.from:disk.At()], crashfs.Storage)))
			}
		}
	}
	return nil
}

// follows reports whether a state may be what a crash at an operation left.
func (v *crashVerifier) follows(after *sequel, s *crashState, at int) bool {
	if s.version == after.next.version {
		return s.digest() == after.next.digest()
	}
	return at < after.acked && after.low <= s.version && s.version <= after.high && s.digest() == v.digests[s.version]
}

func indent(s string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n\t")
}

// recoverAgain opens an image and checks that it holds a state that may be there.
func (v *crashVerifier) recoverAgain(img *crashfs.Image, may func(s *crashState) bool) error {
	sys := v.disk(img)
	db, err := Open(crashPath, v.recoveryOptions(sys))
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	report, err := db.Check(context.Background(), nil)
	if err == nil && !report.OK() {
		err = fmt.Errorf("check: %v", report.Problems)
	}
	if err == nil {
		err = db.View(context.Background(), func(rx *Rx) error {
			s, err := readCrashState(rx)
			if err == nil && !may(s) {
				err = fmt.Errorf("has the transactions up to %d, or something else", s.version)
			}
			return err
		})
	}
	return dberr.Join(err, db.Close())
}

// die lets all processes die at a moment: the next one finds everything that was written, synced or
// not. Then the power fails, at each moment of what that one does.
func (v *crashVerifier) die(h *crashfs.History, at int) error {
	sys := h.Fork(at, v.roomOptions()...)
	db, err := Open(crashPath, v.options(ordercheck.New(sys, v.durability == DurabilityOff, v.breach)))
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	low, high := v.bounds(at, false)
	state, err := v.sound(db)
	if err == nil && (state.version < low || state.version > high) {
		err = fmt.Errorf("has the transactions up to %d, want %d to %d", state.version, low, high)
	}
	if err != nil {
		return dberr.Join(err, db.Close())
	}
	after, err := v.goOn(sys, db, state)
	if err = dberr.Join(err, db.Close()); err != nil || v.durability == DurabilityOff {
		return err
	}
	after.from, after.high = at, state.version
	after.low, _ = v.bounds(at, true)
	if v.late(v.durability) < 0 {
		after.acked = sys.Count() // Close secured it
	}
	return v.crashAgain(after, crashfs.Plan{Seed: v.plan.Seed, Single: 3, Subsets: 4, Garbage: 1, Names: 2}, &crashCounts.deaths)
}

// logCrashCounts says what was done so far in this run.
func logCrashCounts(t *testing.T) {
	c := &crashCounts
	t.Logf("so far: %d moments, %d images (%d opened, the others alike), %d with a further transaction, %d nested, %d after deaths, %d on a full disk",
		c.moments.Load(), c.images.Load(), c.opened.Load(), c.advanced.Load(), c.nested.Load(), c.deaths.Load(), c.full.Load())
	for way := range c.ways {
		t.Logf("\t%v: %d", crashfs.Way(way), c.ways[way].Load())
	}
}
