package pgstore

import (
	"cmp"
	"maps"
	"slices"

	"github.com/foliofs/folio/internal/store"
)

// flush sends all changes to the server in one trip, with further steps after them.
func (t *tx) flush(after ...step) error { return t.flushBy(t.ask, after...) }

// flushBy is flush by ask, or by send.
func (t *tx) flushBy(trip func(steps ...step) error, after ...step) error {
	if err := t.storeObjects(); err != nil {
		return err
	}
	var steps []step
	if t.begun() && t.flushes > 0 {
		if b := t.takeNew(); len(b.ids) > 0 {
			steps = append(steps, step{copied: b})
		}
	}
	if t.changedRows() || len(steps) > 0 || t.cache.readSet != nil { // apply locks what was seen
		steps = append(steps, t.applyStep())
	}
	steps = append(steps, t.partSteps()...)
	for _, key := range slices.SortedFunc(maps.Keys(t.xattrs), compareXattrs) {
		steps = append(steps, do(putXattr, int64(key.ino), []byte(key.name), t.xattrs[key]))
	}
	if err := trip(append(steps, after...)...); err != nil {
		return err
	}
	clear(t.nodes)
	clear(t.names)
	clear(t.dirs)
	clear(t.chunks)
	clear(t.parts)
	clear(t.xattrs)
	clear(t.orphans)
	t.cuts, t.size = nil, 0
	return nil
}

// changedRows reports whether there is something for the function apply.
func (t *tx) changedRows() bool {
	return len(t.nodes)+len(t.names)+len(t.chunks)+len(t.parts)+len(t.cuts)+len(t.orphans) > 0
}

// applyStep calls the function apply with all changes but those of extended attributes.
func (t *tx) applyStep() step {
	a := new(application)
	a.see(t)
	a.addNodes(t)
	a.addEntries(t)
	a.addContent(t)
	for _, ino := range sortedKeys(t.orphans) {
		if t.orphans[ino] {
			a.orphans = append(a.orphans, int64(ino))
		} else {
			a.adopted = append(a.adopted, int64(ino))
		}
	}
	return step{statement: apply, row: ignore, args: []any{
		t.locks(), a.seen, a.seenDirs, a.seenEntries, a.seenNames, a.made, a.changed, a.touched,
		a.gone.rows, a.gone.names, a.added.rows, a.added.names, a.put.rows, a.put.names,
		a.cuts, a.chunks, a.contents, a.orphans, a.adopted,
	}}
}

// An application holds the arguments of the function apply.
type application struct {
	seen, seenDirs, seenEntries []int64
	seenNames                   [][]byte
	made, changed, touched      []int64
	gone, added, put            entryRows
	cuts, chunks                []int64
	contents                    [][]byte
	orphans, adopted            []int64
}

// entryRows are entries, with several numbers for each name.
type entryRows struct {
	rows  []int64
	names [][]byte
}

func (r *entryRows) add(name string, row ...int64) {
	r.rows, r.names = append(r.rows, row...), append(r.names, []byte(name))
}

// see adds the state that the server must still hold, unless the volume was locked before it was
// read.
func (a *application) see(t *tx) {
	seen := t.cache.readSet
	if seen == nil {
		return
	}
	for ino, n := range seen.nodes {
		state := t.nodes[ino]
		if store.TypeOf(n.Mode) == store.Dir && (state == 0 || state == nodeTouched) {
			a.seenDirs = append(a.seenDirs, int64(ino), int64(n.Mode), int64(n.UID), int64(n.GID))
			continue
		}
		values := nodeValues(&n)
		a.seen = append(a.seen, values[:]...)
	}
	for key, e := range seen.entries {
		if t.names[key] == nameMissing && t.cache.entries[key].Ino != 0 {
			continue // to insert it is to look
		}
		a.seenEntries, a.seenNames = append(a.seenEntries, int64(key.Dir), int64(e.Ino)), append(a.seenNames, []byte(key.Name))
	}
}

// addNodes adds inodes, in the order of their numbers.
func (a *application) addNodes(t *tx) {
	for _, ino := range sortedKeys(t.nodes) {
		n := t.cache.nodes[ino]
		values := nodeValues(&n)
		switch t.nodes[ino] {
		case nodeNew:
			a.made = append(a.made, values[:]...)
		case nodeChanged:
			a.changed = append(a.changed, values[:]...)
		case nodeTouched:
			before := t.cache.readSet.nodes[ino]
			a.touched = append(a.touched, int64(ino), int64(n.Nlink)-int64(before.Nlink), n.Mtime, n.Ctime)
		}
	}
}

// nodeValues returns the columns of an inode, the number first.
func nodeValues(n *store.Node) [11]int64 {
	return [...]int64{
		int64(n.Ino), int64(n.Mode), int64(n.Nlink), int64(n.UID), int64(n.GID), n.Size, n.Holes, n.Mtime, n.Ctime, n.Atime, int64(n.Rdev),
	}
}

// addEntries adds entries. An entry that was seen to be missing is inserted, which fails if it is
// there.
func (a *application) addEntries(t *tx) {
	for _, key := range slices.SortedFunc(maps.Keys(t.names), compareKeys) {
		e := t.cache.entries[key]
		switch {
		case e.Ino == 0:
			a.gone.add(key.Name, int64(key.Dir))
		case t.names[key] == nameMissing:
			a.added.add(key.Name, int64(key.Dir), int64(e.Ino), int64(e.Type))
		default:
			a.put.add(key.Name, int64(key.Dir), int64(e.Ino), int64(e.Type))
		}
	}
}

func compareKeys(a, b store.EntryKey) int {
	return cmp.Or(cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Name, b.Name))
}

func compareXattrs(a, b xattrKey) int {
	return cmp.Or(cmp.Compare(a.ino, b.ino), cmp.Compare(a.name, b.name))
}

// addContent adds contents.
func (a *application) addContent(t *tx) {
	for _, c := range t.cuts {
		a.cuts = append(a.cuts, c.first, c.last)
	}
	for _, id := range sortedKeys(t.chunks) {
		a.chunks, a.contents = append(a.chunks, id), append(a.contents, t.chunks[id])
	}
}

// takeNew takes the changed data rows that the server cannot have yet.
func (t *tx) takeNew() *bulk {
	b := new(bulk)
	for id := range t.parts { // they are rows, too
		ino := store.Ino(id >> store.ChunkBits)
		if last, long := t.grown[ino]; long || t.nodes[ino] == nodeNew {
			t.growTo(ino, max(last, id))
		}
	}
	for _, id := range sortedKeys(t.chunks) {
		ino := store.Ino(id >> store.ChunkBits)
		last, long := t.grown[ino]
		isNew := !t.isCut(id) && (t.nodes[ino] == nodeNew || long && id > last)
		if isNew {
			b.ids, b.rows = append(b.ids, id), append(b.rows, t.chunks[id])
			delete(t.chunks, id)
		}
		if long || isNew && id&(1<<store.ChunkBits-1) >= longFile {
			t.growTo(ino, max(t.grown[ino], id))
		}
	}
	return b
}

// growTo notes the last data row of a new file that was sent.
func (t *tx) growTo(ino store.Ino, id int64) {
	if t.grown == nil {
		t.grown = make(map[store.Ino]int64)
	}
	t.grown[ino] = id
}

// sortedKeys returns the keys of a map in order, so that rows are always locked in the same one.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// isCut reports whether a data row on the server is about to be removed.
func (t *tx) isCut(id int64) bool {
	return slices.ContainsFunc(t.cuts, func(c span) bool { return c.has(id) })
}
