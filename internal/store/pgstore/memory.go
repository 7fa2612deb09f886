package pgstore

import (
	"errors"
	"io/fs"
	"maps"
	"sync"

	"github.com/foliofs/folio/internal/store"
)

// A group of changes mostly looks up what those before it have looked up or made: the directories
// on its paths. So the Store remembers that. A group guesses at first that the volume is still so,
// and that names which the Store does not remember are not there. If all of its changes succeed
// then, they go to the server in one trip. The function apply looks whether all that was guessed is
// true, as it does with what other groups have read.
//
// After a wrong guess, and if a change fails or needs more than is remembered, the group runs again
// and reads first. So no result depends on a guess that the server has not confirmed.

// A memory is what a Store remembers of the volume, and how good its guesses were.
type memory struct {
	mu         sync.Mutex // guards the fields below
	young, old remembered
	odds       odds
}

// What is remembered are inodes and entries. The inode of an entry is 0 if there is no such entry.
type remembered struct {
	nodes   map[store.Ino]store.Node
	entries map[store.EntryKey]store.Entry
}

// maxYoung is how many inodes, or entries, are young at most.
const maxYoung = 4096

// errGuess says that a group must read before it changes something.
var errGuess = errors.New("the transaction must read")

// pays reports whether a group should guess.
func (m *memory) pays() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.odds.pays() && len(m.young.nodes) > 0
}

// note remembers what a transaction knows when it is committed, or forgets everything.
func (m *memory) note(t *tx, err error, guessed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil || t.flushes > 0 || len(t.known.nodes)+len(t.known.entries) > maxYoung {
		m.young, m.old = remembered{}, remembered{}
	} else {
		m.learn(&t.known)
	}
	if guessed {
		m.odds.note(err == nil)
	}
}

// pause lets some groups read first.
func (m *memory) pause() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.odds.pause()
}

// learn remembers what is known, and the directories of a transaction again and again. What was not
// looked up for long is forgotten.
func (m *memory) learn(k *known) {
	if m.young.nodes == nil || len(m.young.nodes) > maxYoung || len(m.young.entries) > maxYoung {
		m.young, m.old = remembered{make(map[store.Ino]store.Node), make(map[store.EntryKey]store.Entry)}, m.young
	}
	maps.Copy(m.young.nodes, k.nodes)
	maps.Copy(m.young.entries, k.entries)
}

// node returns an inode, if it is remembered.
func (m *memory) node(ino store.Ino) (store.Node, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, ok := m.young.nodes[ino]
	if !ok {
		n, ok = m.old.nodes[ino]
	}
	return n, ok
}

// entry returns an entry, whose inode is 0 unless it is remembered.
func (m *memory) entry(key store.EntryKey) store.Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.young.entries[key]
	if !ok {
		e = m.old.entries[key]
	}
	return e
}

// mustRead ends a transaction that has guessed and needs the server.
func (r *reader) mustRead() error {
	r.broken = errGuess
	return r.broken
}

// guessNode is Node without the server.
func (r *reader) guessNode(ino store.Ino) (store.Node, error) {
	n, ok := r.guess.node(ino)
	if !ok {
		return n, r.mustRead()
	}
	r.known.readNode(n)
	return n, nil
}

// guessEntry is Lookup without the server.
func (r *reader) guessEntry(key store.EntryKey) (store.Entry, error) {
	e := r.guess.entry(key)
	r.known.readEntry(key, e)
	if e.Ino == 0 {
		return e, fs.ErrNotExist
	}
	return e, nil
}
