package pgstore

import (
	"errors"
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

// An optimisticCache holds the answers that a Store remembers, and how good its guesses were.
type optimisticCache struct {
	mu         sync.Mutex // guards the fields below
	young, old cachedRows
	backoff    backoff
}

// What is remembered are inodes and entries. The inode of an entry is 0 if there is no such entry.
type cachedRows struct {
	nodes   map[store.Ino]store.Node
	entries map[store.EntryKey]store.Entry
}

// maxYoung is how many inodes, or entries, are young at most.
const maxYoung = 4096

// errGuess says that a group must read before it changes something.
var errGuess = errors.New("the transaction must read")

// shouldTry reports whether a group should guess.
func (m *optimisticCache) shouldTry() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.backoff.shouldTry() && len(m.young.nodes) > 0
}

// note remembers the answers of a transaction when it is committed, or forgets everything: k is nil
// if the transaction failed, or does not know all that it has changed.
func (m *optimisticCache) note(k *readCache, guessed, right bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k == nil || len(k.nodes)+len(k.entries) > maxYoung {
		m.young, m.old = cachedRows{}, cachedRows{}
	} else {
		m.learn(k)
	}
	if guessed {
		m.backoff.record(right)
	}
}

// pause lets some groups read first.
func (m *optimisticCache) pause() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.backoff.skip = 1 << maxWrong
}

// learn remembers answers, and the directories of a transaction again and again. What was not
// looked up for long is forgotten.
func (m *optimisticCache) learn(k *readCache) {
	if m.young.nodes == nil || len(m.young.nodes) > maxYoung || len(m.young.entries) > maxYoung {
		m.young, m.old = cachedRows{make(map[store.Ino]store.Node), make(map[store.EntryKey]store.Entry)}, m.young
	}
	maps.Copy(m.young.nodes, k.nodes)
	maps.Copy(m.young.entries, k.entries)
}

// node returns an inode, if it is remembered.
func (m *optimisticCache) node(ino store.Ino) (store.Node, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, ok := m.young.nodes[ino]
	if !ok {
		n, ok = m.old.nodes[ino]
	}
	return n, ok
}

// entry returns an entry, whose inode is 0 unless it is remembered.
func (m *optimisticCache) entry(key store.EntryKey) store.Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.young.entries[key]
	if !ok {
		e = m.old.entries[key]
	}
	return e
}

// A backoff decides whether a guess is worth a trip. The more guesses in a row were wrong, the
// fewer are made.
type backoff struct {
	wrong int // guesses in a row that the server has refused
	skip  int // that are not to be made
}

// maxWrong limits how many guesses are left out for each that is made to 64.
const maxWrong = 6

// shouldTry reports whether a guess should be made.
func (o *backoff) shouldTry() bool {
	if o.skip > 0 {
		o.skip--
		return false
	}
	return true
}

// record notes the result of a guess.
func (o *backoff) record(right bool) {
	if right {
		o.wrong = 0
		return
	}
	o.skip = 1 << min(o.wrong, maxWrong)
	o.wrong++
}
