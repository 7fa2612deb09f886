package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile/crashfs"
)

// tightDisk is how much a tight disk has free when a load or a recovery begins: less than
// shortRoom, so that what is freed is punched.
const tightDisk = 512 << 10

// disk returns a file system with the files of an image, on a disk as the case wants it.
func (c *crashCase) disk(img *crashfs.Image) *crashfs.FS { return img.FS(c.roomOptions()...) }

func (c *crashCase) roomOptions() []crashfs.Option {
	if !c.tight {
		return nil
	}
	return []crashfs.Option{crashfs.WithFreeSpace(tightDisk)}
}

// tightUse fills the disk and removes what it is filled with, again and again, while other programs
// take room and give it back.
func tightUse(l *crashLoad) {
	for range l.steps {
		switch l.rng.IntN(16) {
		case 0, 1:
			l.fs.LeaveFreeSpace(int64(l.rng.IntN(3)*l.rng.IntN(40)) << 10)
		case 2:
			l.fs.LeaveFreeSpace(tightDisk)
		case 3:
			l.rollback()
		case 4:
			l.mayFill(l.tryCheckpoint(CheckpointMode(l.rng.IntN(4))))
		case 5:
			l.reopenTight()
		case 6:
			l.read()
		case 7, 8, 9:
			l.mayFill(l.removeAll())
		default:
			l.mayFill(l.fillUp())
		}
	}
	l.fillOnce()
	l.fs.LeaveFreeSpace(tightDisk)
	l.wantTightWays()
}

// fillOnce commits until the disk is full, and removes rows on the full disk, which must succeed.
func (l *crashLoad) fillOnce() {
	l.t.Helper()
	l.fs.LeaveFreeSpace(tightDisk)
	for free := int64(tightDisk); l.mayFill(l.fillUp()); free /= 2 {
		l.fs.LeaveFreeSpace(free)
	}
	if l.mayFill(l.removeAll()) {
		return
	}
	// Its journal saves all pages that auto-vacuum cuts off: more than the kept room. One row fits.
	for _, id := range slices.Sorted(maps.Keys(l.state.items)) {
		if err := l.remove(id); err != nil {
			l.t.Fatalf("removing on a full disk: %v", err)
		}
	}
}

// wantTightWays fails the test if the load kept no room, or gave none back. Auto-vacuum may cut the
// file where others punch it.
func (l *crashLoad) wantTightWays() {
	l.t.Helper()
	counts := make(map[crashfs.Kind]int)
	for _, op := range l.fs.Ops(0) {
		counts[op.Kind]++
	}
	allocated, punched := counts[crashfs.Preallocate], counts[crashfs.Punch]
	if allocated == 0 || (punched == 0 && l.autoVacuum == 0) {
		l.t.Errorf("%d times allocated, %d times punched", allocated, punched)
	}
}

// openFull opens the database on a disk without room, which may fail and must not harm, and gives
// the disk room again.
func (v *crashVerifier) openFull(sys *crashfs.FS) error {
	if !v.tight || v.rng.IntN(2) == 0 {
		return nil
	}
	sys.LeaveFreeSpace(0)
	defer sys.LeaveFreeSpace(tightDisk)
	crashCounts.full.Add(1)
	db, err := Open(crashPath, v.recoveryOptions(sys))
	if errors.Is(err, ErrFull) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = v.sound(db)
	if err = dberr.Join(err, db.Close()); err != nil && !errors.Is(err, ErrFull) && !errors.Is(err, ErrWALRemains) {
		return err
	}
	return nil
}

// close closes the database. If a tight disk has too little room for all that is in the log, the
// log stays, as Close says, and must go once there is room. Blocks that a load had taken for it,
// and not synced, are gone with the power: on a real disk they would be free now.
func (v *crashVerifier) close(sys *crashfs.FS, db *DB) error {
	before, err := v.content(db)
	if err != nil {
		return dberr.Join(err, db.Close())
	}
	err = db.Close()
	if !v.tight || !errors.Is(err, ErrWALRemains) {
		return err
	}
	sys.LeaveFreeSpace(roomForLog)
	if db, err = Open(crashPath, v.recoveryOptions(sys)); err != nil {
		return err
	}
	after, err := v.content(db)
	if err == nil && after.digest() != before.digest() {
		err = errors.New("the log that had stayed gives another content")
	}
	return dberr.Join(err, db.Close())
}

// roomForLog is more than any load leaves in the log.
const roomForLog = 4 * tightDisk

// content returns what is in the database.
func (v *crashVerifier) content(db *DB) (state *crashState, err error) {
	err = db.View(context.Background(), func(rx *Rx) error {
		state, err = readCrashState(rx)
		return err
	})
	return state, err
}

// tightSteps are those of a fault test on a disk that other programs fill and empty.
func (r *faultRun) tightSteps() []func() error {
	leave := func(free int64) func() error { return func() error { r.fs.LeaveFreeSpace(free); return nil } }
	return []func() error{
		r.open, r.fill, r.fill, leave(0), r.remove, r.fill, r.checkpoint(CheckpointPassive), r.remove, r.check, r.close, leave(32 << 10),
		r.open, r.fill, r.remove, r.checkpoint(CheckpointRestart), leave(tightDisk), r.commit, r.close,
	}
}

func (r *faultRun) fill() error {
	return r.transact(func(s *crashState, tx *Tx) error { return s.fillUp(tx, r.rng) })
}

func (r *faultRun) remove() error {
	return r.transact(func(s *crashState, tx *Tx) error {
		tx.UseReserve()
		return s.shrink(tx)
	})
}

// mayFill reports whether an operation succeeded. It may fail for want of room.
func (l *crashLoad) mayFill(err error) (ok bool) {
	l.t.Helper()
	if err != nil && !errors.Is(err, ErrFull) {
		l.t.Fatalf("%v\n%s", err, crashfs.Trace(l.fs.Ops(max(0, l.fs.Count()-40)), 0xffff))
	}
	return err == nil
}

// remove deletes one row, by the room that is kept for that.
func (l *crashLoad) remove(id int64) error {
	return l.tryCommit(l.db, func(s *crashState, tx *Tx) error {
		tx.UseReserve()
		return s.remove(tx, id)
	})
}

// fillUp commits one large item more.
func (l *crashLoad) fillUp() error {
	return l.tryCommit(l.db, func(s *crashState, tx *Tx) error { return s.fillUp(tx, l.rng) })
}

// removeAll deletes most rows, by the room that is kept for that.
func (l *crashLoad) removeAll() error {
	return l.tryCommit(l.db, func(s *crashState, tx *Tx) error {
		tx.UseReserve()
		return s.shrink(tx)
	})
}

// fillUp makes the next version, which has one large item more.
func (s *crashState) fillUp(tx *Tx, rng *rand.Rand) error {
	if err := s.advance(tx, rng, 1+rng.IntN(20)); err != nil {
		return err
	}
	items, err := tx.Table("item")
	if err != nil {
		return err
	}
	id, size := rng.Int64N(30), rng.IntN(90<<10)
	item := crashItem{fmt.Sprintf("large %d of %d", id, s.version), rng.Int64N(100), strings.Repeat("y", size)}
	s.items[id] = item
	return items.Put(id, nil, item.name, item.size, []byte(item.body))
}

// shrink makes the next version, of which only one item in ten is left.
func (s *crashState) shrink(tx *Tx) error {
	var ids []int64
	for id := range int64(30) {
		if id%10 != 0 {
			ids = append(ids, id)
		}
	}
	return s.remove(tx, ids...)
}

// remove makes the next version, without those items.
func (s *crashState) remove(tx *Tx, ids ...int64) error {
	s.version++
	mark, err := tx.Table("mark")
	if err != nil {
		return err
	}
	if _, err := mark.Update(1, nil, s.version); err != nil {
		return err
	}
	items, err := tx.Table("item")
	for _, id := range ids {
		if err != nil {
			break
		}
		delete(s.items, id)
		_, err = items.Delete(id)
	}
	return err
}

// tryCommit commits a transaction that may fail, and then has not happened.
func (l *crashLoad) tryCommit(db *DB, do func(s *crashState, tx *Tx) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.state.clone()
	begun, digests := len(l.begun), len(l.digests)
	err := db.Update(context.Background(), func(tx *Tx) error {
		if err := do(next, tx); err != nil {
			return err
		}
		l.digests = append(l.digests[:digests], next.digest())
		l.begun = append(l.begun[:begun], event{next.version, l.fs.Count()})
		return nil
	})
	if err != nil {
		l.begun, l.digests = l.begun[:begun], l.digests[:digests]
		return err
	}
	l.state = next
	l.acked = append(l.acked, event{next.version, l.fs.Count()})
	return nil
}

func (l *crashLoad) tryCheckpoint(mode CheckpointMode) error {
	version := l.version()
	err := l.db.Checkpoint(context.Background(), mode)
	if err == nil && mode != CheckpointPassive {
		l.secure(version)
	}
	return err
}

// reopenTight closes the database, with a log that may stay for want of room, and opens it.
func (l *crashLoad) reopenTight() {
	l.t.Helper()
	version := l.version()
	if err := l.db.Close(); err == nil {
		l.secure(version)
	} else if !errors.Is(err, ErrWALRemains) {
		l.mayFill(err)
	}
	db, err := Open(crashPath, l.options(l.sys))
	if !l.mayFill(err) {
		l.fs.LeaveFreeSpace(tightDisk)
		l.open()
		return
	}
	l.db = db
}
