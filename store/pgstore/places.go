package pgstore

import (
	"strings"
	"sync"

	"github.com/foliofs/folio/store"
)

// places are the directories to which paths have led. A directory seldom loses its name, and the
// server counts the transactions in which one did: the moves. While their number is the same, all
// these paths lead to the same directories.
type places struct {
	mu         sync.Mutex // guards the fields below
	era        int        // counts connections: a new one may lead to another server
	moves      int64      // when the paths were looked up
	young, old map[store.Path]store.Ino
	odds       odds
	off        bool // servers may be asked in turn, of which one is behind the other
}

// maxPlaces is how many directories are young at most.
const maxPlaces = 4096

// A placed is a name in a directory that is remembered.
type placed struct {
	dir   store.Ino
	name  string
	era   int
	moves int64
}

// now returns the era. What is learned in an older one does not count.
func (m *places) now() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.era
}

// forget begins an era.
func (m *places) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.era++
	m.young, m.old = nil, nil
}

// find finds the directory of the last name of a valid path. It notes the entries on the way in k.
func (m *places) find(p store.Path, k *known) (at placed, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.off || p.Name == "." {
		return at, false
	}
	at = placed{dir: p.Top, era: m.era, moves: m.moves}
	for i := 0; ; {
		j := strings.IndexByte(p.Name[i:], '/')
		if j < 0 {
			at.name = p.Name[i:]
			return at, m.odds.pays()
		}
		j += i
		dir, ok := m.get(store.Path{Top: p.Top, Name: p.Name[:j]})
		if !ok {
			return at, false
		}
		name := p.Name[i:j]
		k.setEntry(store.EntryKey{Dir: at.dir, Name: name}, store.Entry{Name: name, Ino: dir, Type: store.Dir})
		at.dir, i = dir, j+1
	}
}

func (m *places) get(p store.Path) (store.Ino, bool) {
	dir, ok := m.young[p]
	if !ok {
		if dir, ok = m.old[p]; ok {
			m.put(p, dir)
		}
	}
	return dir, ok
}

// put remembers a directory. What was not looked up for long is forgotten.
func (m *places) put(p store.Path, dir store.Ino) {
	if m.young == nil || len(m.young) >= maxPlaces {
		m.young, m.old = make(map[store.Path]store.Ino), m.young
	}
	m.young[p] = dir
}

// confirm reports whether a directory was where it is remembered to be. The server has told whether
// nothing has moved since.
func (m *places) confirm(at placed, still bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	right := still && at.era == m.era
	m.odds.note(right)
	return right
}

// learn remembers the directories of a path without links: found has what its top and its names
// lead to.
func (m *places) learn(era int, moves int64, p store.Path, found []end) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if era != m.era || m.off {
		return
	}
	if moves != m.moves {
		m.moves, m.young, m.old = moves, nil, nil
	}
	end := 0
	for _, f := range found[1:] {
		if next := strings.IndexByte(p.Name[end:], '/'); next >= 0 {
			end += next
		} else {
			end = len(p.Name)
		}
		if f.typ != store.Dir || f.ino == 0 {
			return
		}
		if key := (store.Path{Top: p.Top, Name: p.Name[:end]}); m.young[key] != f.ino {
			key.Name = strings.Clone(key.Name)
			m.put(key, f.ino)
		}
		end++
	}
}
