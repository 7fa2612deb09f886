package pgstore

import (
	"strings"
	"sync"

	"github.com/foliofs/folio/internal/store"
)

// places are the entries of directories by which paths have led. A directory seldom loses its name,
// and the server names each transaction in which one did: a move. While the last move is the same,
// all these entries are as they were, whatever server answers.
type places struct {
	mu         sync.Mutex // guards the fields below
	move       int64      // the last one when the entries were looked up, 0 before the first look
	young, old map[store.EntryKey]store.Ino
	odds       odds
}

// maxPlaces is how many entries are young at most.
const maxPlaces = 4096

// A placed is a name in a directory that is remembered.
type placed struct {
	dir  store.Ino
	name string
	move int64
}

// find finds the directory of the last name of a valid path. It notes the entries on the way in k.
func (m *places) find(p store.Path, k *known) (at placed, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.move == 0 || p.Name == "." { // a guess would be wrong, or of no use
		return at, false
	}
	at = placed{dir: p.Top, name: p.Name, move: m.move}
	for {
		name, rest, more := strings.Cut(at.name, "/")
		if !more {
			return at, m.odds.pays()
		}
		key := store.EntryKey{Dir: at.dir, Name: name}
		dir, ok := m.get(key)
		if !ok {
			return at, false
		}
		k.setEntry(key, store.Entry{Name: name, Ino: dir, Type: store.Dir})
		at.dir, at.name = dir, rest
	}
}

func (m *places) get(key store.EntryKey) (store.Ino, bool) {
	dir, ok := m.young[key]
	if !ok {
		if dir, ok = m.old[key]; ok {
			m.put(key, dir)
		}
	}
	return dir, ok
}

// put remembers an entry. What was not looked up for long is forgotten.
func (m *places) put(key store.EntryKey, dir store.Ino) {
	if m.young == nil || len(m.young) >= maxPlaces {
		m.young, m.old = make(map[store.EntryKey]store.Ino), m.young
	}
	key.Name = strings.Clone(key.Name)
	m.young[key] = dir
}

// note notes whether a directory was where it was remembered to be.
func (m *places) note(right bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.odds.note(right)
}

// learn remembers the directories of a path without links, as they were when the last move was this
// one: found has what its top and its names lead to.
func (m *places) learn(move int64, p store.Path, found []end) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if move != m.move {
		m.move, m.young, m.old = move, nil, nil
	}
	i := 0
	for name := range strings.SplitSeq(p.Name, "/") {
		if i++; i == len(found) || found[i].typ != store.Dir || found[i].ino == 0 {
			return
		}
		if key := (store.EntryKey{Dir: found[i-1].ino, Name: name}); m.young[key] != found[i].ino {
			m.put(key, found[i].ino)
		}
	}
}
