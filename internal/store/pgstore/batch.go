package pgstore

import (
	"errors"
	"runtime"
	"time"

	"github.com/foliofs/folio/internal/store"
)

// Changes of many goroutines go to the server in groups: a goroutine that becomes a leader takes
// with it all changes that wait. Their paths are read together, and what they change is sent
// together and committed at once. So a group makes two trips, or one if it guesses, like a single
// change, and the server syncs its log once. While the server works on one group, another leader
// prepares the next. Only the functions of the changes run one at a time.
//
// A change that fails is taken back alone, as the group has sent nothing of it yet. If it has, or
// if the server refuses the group, each change runs once more, in a transaction of its own.

// Batch implements store.Batcher.
func (s *Store) Batch(fn func(tx store.Tx) error) error { return s.BatchAt(fn) }

// BatchAt implements store.Walker.
func (s *Store) BatchAt(fn func(tx store.Tx) error, paths ...store.Path) error {
	c := &call{fn: fn, paths: paths, done: make(chan struct{})}
	err := s.counted(func() error {
		second := s.batch.second
		if !s.batch.add(c) {
			second = nil
		}
		select {
		case <-c.done:
		case <-s.batch.leader:
			s.lead(c, s.batch.leader)
		case <-second:
			s.lead(c, s.batch.second)
		}
		<-c.done
		return c.err
	})
	s.reapReleased()
	if c.panicked != nil {
		panic(c.panicked)
	}
	return err
}

// lead runs groups until a change is done, and gives the token back then.
func (s *Store) lead(c *call, token chan<- struct{}) {
	defer func() { token <- struct{}{} }()
	for {
		runtime.Gosched() // goroutines whose changes are done may be about to add others
		group := s.batch.take()
		if len(group) == 0 { // another leader has it
			return
		}
		s.runGroup(group)
		select {
		case <-c.done:
			return
		default:
		}
	}
}

// errAlone says that each change of a group must run alone.
var errAlone = errors.New("a change of the group cannot be taken back")

// runGroup runs changes in one transaction, or, if that fails, each in one of its own.
func (s *Store) runGroup(group []*call) {
	defer func() {
		for _, c := range group {
			c.end(errLeader) // fn has ended this goroutine
		}
	}()
	err := s.runTogether(group)
	alone := err != nil && len(group) > 1 && !errors.Is(err, store.ErrUnreachable)
	for _, c := range group {
		if alone {
			err = s.runTogether([]*call{c})
		}
		if err != nil && c.panicked == nil && (c.err == nil || !errors.Is(err, errAlone)) {
			c.err = err
		}
		c.end(nil)
	}
}

// runTogether runs changes in one transaction. It locks the volume unless all changes have said
// which paths they look up, or if they cannot do without.
func (s *Store) runTogether(group []*call) error {
	var paths []store.Path
	ahead := true
	for _, c := range group {
		paths, ahead = append(paths, c.paths...), ahead && len(c.paths) > 0
	}
	if ahead {
		if again, err := s.runFreely(group, paths); !again {
			return err
		}
	}
	<-s.turn
	defer s.giveTurn()
	return s.repeat(bg, func() error {
		return s.transact(bg, len(group), lockFirst, func(t *tx) error {
			if len(paths) > 0 {
				if err := t.ReadAhead(paths...); err != nil {
					return err
				}
			}
			return t.runAll(group)
		})
	})
}

// runFreely runs changes without the lock of the volume: they guess, or else read. again says that
// they must run with it.
func (s *Store) runFreely(group []*call, paths []store.Path) (again bool, err error) {
	begun := time.Now()
	for _, first := range []approach{guessFirst, readFirst} {
		if first == guessFirst && !s.optimistic.shouldTry() {
			continue
		}
		err = s.transact(bg, len(group), first, func(t *tx) error {
			if err := t.ReadAhead(paths...); err != nil {
				return err
			}
			<-s.turn
			defer s.giveTurn()
			return t.runAll(group)
		})
		again = errors.Is(err, errGuess) || errors.Is(err, errLock) || isConflict(err) || codeOf(err) == codeUnique || isBroken(err) && time.Since(begun) < s.timeout
		if !again || first == guessFirst && errors.Is(err, errLock) { // to read first would be in vain
			break
		}
	}
	return again, err
}

var errLeader = errors.New("the goroutine that made the change has ended")

// runAll runs changes one after the other. It returns an error if they cannot be committed.
func (t *tx) runAll(group []*call) error {
	for _, c := range group {
		if err := t.runOne(c); err != nil {
			return err
		}
	}
	return nil
}

// runOne runs a change, and takes it back if it fails.
func (t *tx) runOne(c *call) error {
	flushes := t.flushes
	t.undo, t.undoing = t.undo[:0], true
	c.err, c.panicked = nil, nil
	c.run(t)
	t.undoing = false
	if t.broken != nil {
		return t.broken
	}
	if c.err == nil && c.panicked == nil {
		c.err = t.failed
	}
	if c.err == nil && c.panicked == nil {
		return nil
	}
	t.failed = nil
	if t.guess != nil {
		return errGuess
	}
	if t.flushes != flushes {
		return errAlone
	}
	for i := len(t.undo) - 1; i >= 0; i-- {
		t.undo[i]()
	}
	return nil
}

// run calls the function of a change.
func (c *call) run(t *tx) {
	defer func() { c.panicked = recover() }()
	c.err = c.fn(t)
}
