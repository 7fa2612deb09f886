package pgstore

import (
	"strings"

	"github.com/foliofs/folio/internal/store"
)

// readCache holds the state that a transaction knows: what it has read, and, if it writes, what it
// has changed and not sent yet.
type readCache struct {
	nodes   map[store.Ino]store.Node
	entries map[store.EntryKey]store.Entry // the inode is 0 if there is no such entry
	bounded bool                           // nothing in it was changed: it can forget
	readSet *readSet                       // nil unless the volume may change meanwhile
	table   int64                          // bytes that table data has at least, 0 if that is not known
}

// readSet holds the rows that a transaction has read, as they were then.
type readSet struct {
	nodes   map[store.Ino]store.Node
	entries map[store.EntryKey]store.Entry
}

// maxKnown is how many inodes, and how many entries, a read transaction keeps.
const maxKnown = 1 << 16

// readNode keeps an inode that was read.
func (k *readCache) readNode(n store.Node) {
	if k.bounded && len(k.nodes) >= maxKnown {
		k.nodes = nil
	}
	if k.readSet != nil {
		k.readSet.nodes[n.Ino] = n
	}
	k.setNode(n)
}

func (k *readCache) setNode(n store.Node) {
	if k.nodes == nil {
		k.nodes = make(map[store.Ino]store.Node)
	}
	k.nodes[n.Ino] = n
}

// readEntry keeps an entry that was read.
func (k *readCache) readEntry(key store.EntryKey, e store.Entry) {
	if k.bounded && len(k.entries) >= maxKnown {
		k.entries = nil
	}
	if k.readSet != nil {
		k.readSet.entries[key] = e
	}
	k.setEntry(key, e)
}

func (k *readCache) setEntry(key store.EntryKey, e store.Entry) {
	if k.entries == nil {
		k.entries = make(map[store.EntryKey]store.Entry)
	}
	k.entries[key] = e
}

// learn keeps an entry that was read, unless it is known: a transaction may have changed it.
func (k *readCache) learn(key store.EntryKey, e store.Entry) {
	if _, ok := k.entries[key]; !ok {
		k.readEntry(key, e)
	}
}

// learnRow is learnNode for a row with the number first.
func (k *readCache) learnRow(v [][]byte) {
	raw := nodeRow(v[1:])
	k.learnNode(store.Ino(number(v[0])), &raw)
}

// learnNode keeps an inode that was read, unless it is known, there are many, or its numbers are
// not plausible: Node looks at it again then.
func (k *readCache) learnNode(ino store.Ino, raw *store.NodeRow) {
	if _, ok := k.nodes[ino]; ok || len(k.nodes) >= maxKnown || !ino.Valid() {
		return
	}
	n, err := raw.Decode(ino)
	if err == nil && n.Size-n.Holes <= max(largeFile, k.table) {
		k.readNode(n)
	}
}

// makeRoom forgets rows if many were read.
func (k *readCache) makeRoom() {
	if len(k.nodes) > maxKnown/2 || len(k.entries) > maxKnown/2 {
		k.nodes, k.entries = nil, nil
	}
}

// has reports whether all names of paths, up to where they end, and their inodes are known. In an
// empty directory there are only the names that are known.
func (k *readCache) has(paths []store.Path, empty func(dir store.Ino) bool) bool {
	for _, p := range paths {
		if !k.hasPath(p, empty) {
			return false
		}
	}
	return true
}

func (k *readCache) hasPath(p store.Path, empty func(dir store.Ino) bool) bool {
	at := p.Top
	if _, ok := k.nodes[at]; !ok {
		return false
	}
	for name := range strings.SplitSeq(p.Name, "/") {
		if name == "" || name == "." {
			continue
		}
		if !store.ValidName(name) {
			break
		}
		e, ok := k.entries[store.EntryKey{Dir: at, Name: name}]
		switch {
		case !ok:
			return empty(at)
		case e.Ino == 0:
			return true
		}
		if _, ok := k.nodes[e.Ino]; !ok || e.Type != store.Dir {
			return ok
		}
		at = e.Ino
	}
	return true
}

// nodeRow takes the columns of an inode after the number.
func nodeRow(v [][]byte) store.NodeRow {
	return store.NodeRow{
		Mode: number(v[0]), Nlink: number(v[1]), UID: number(v[2]), GID: number(v[3]), Size: number(v[4]), Holes: number(v[5]),
		Mtime: number(v[6]), Ctime: number(v[7]), Atime: number(v[8]), Rdev: number(v[9]),
	}
}

// largeFile is how many stored bytes an inode may claim without a look at the size of the table.
const largeFile = 16 << 20
