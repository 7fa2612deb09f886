package pgstore

import (
	"cmp"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/store"
)

// A walk reads paths with all their entries and inodes in one statement. What the beginnings of
// paths have in common is read once: the names are a tree, in which the children of a node stand
// next to each other.
type walk struct {
	tops        []int64    // inodes where paths begin: the first nodes
	names       [][]byte   // of all nodes; "" for tops
	parents     []int      // of all nodes, as places in names; 0 for tops
	first, last []int64    // children of all nodes, counted from 1; none if last is less than first
	found       []resolved // what the nodes led to
	linked      bool       // there is a symbolic link among them
}

// A resolved is the target of a name; its inode is 0 if nothing has that name.
type resolved struct {
	ino store.Ino
	typ store.Type
}

// newWalk returns the walk for some paths. Each of them ends before an element that is no name.
func newWalk(paths []store.Path) *walk {
	split := make([]splitPath, len(paths))
	for i, p := range paths {
		split[i] = splitPath{p.Top, elementsOf(p.Name)}
	}
	slices.SortFunc(split, func(a, b splitPath) int { return cmp.Or(cmp.Compare(a.top, b.top), slices.Compare(a.names, b.names)) })
	w := new(walk)
	var queue []pathGroup
	for at := 0; at < len(split); {
		end := at + 1
		for end < len(split) && split[end].top == split[at].top {
			end++
		}
		w.tops = append(w.tops, int64(split[at].top))
		queue = append(queue, w.add(0, "", split[at:end], 0))
		at = end
	}
	for i := 0; i < len(queue); i++ {
		queue = append(queue, w.children(i, &queue[i])...)
	}
	w.found = make([]resolved, len(w.names))
	return w
}

type splitPath struct {
	top   store.Ino
	names []string
}

// elementsOf returns the names of a path.
func elementsOf(path string) (names []string) {
	for elem := range strings.SplitSeq(path, "/") {
		if elem == "" || elem == "." {
			continue
		}
		if !store.ValidName(elem) {
			break
		}
		names = append(names, elem)
	}
	return names
}

// A pathGroup holds the paths through a node, in order, and how many of their names lead to it.
type pathGroup struct {
	paths []splitPath
	depth int
}

// add adds a node.
func (w *walk) add(parent int, name string, paths []splitPath, depth int) pathGroup {
	w.names, w.parents = append(w.names, []byte(name)), append(w.parents, parent)
	w.first, w.last = append(w.first, 0), append(w.last, -1)
	return pathGroup{paths, depth}
}

// children adds the nodes below a node.
func (w *walk) children(node int, r *pathGroup) (runs []pathGroup) {
	paths := r.paths
	for len(paths) > 0 && len(paths[0].names) == r.depth { // they end here
		paths = paths[1:]
	}
	w.first[node] = int64(len(w.names) + 1)
	for len(paths) > 0 {
		name, n := paths[0].names[r.depth], 1
		for n < len(paths) && paths[n].names[r.depth] == name {
			n++
		}
		runs = append(runs, w.add(node, name, paths[:n], r.depth+1))
		paths = paths[n:]
	}
	w.last[node] = int64(len(w.names))
	return runs
}

// step returns the statement. What it finds goes to k.
func (w *walk) step(k *readCache) step {
	return step{statement: selectWalk, args: []any{w.tops, w.first, w.last, w.names}, row: func(v [][]byte) {
		k.learnRow(v[4:15])
		i, parent := number(v[0])-1, store.Ino(number(v[1]))
		if i < 0 || i >= int64(len(w.found)) {
			return
		}
		ino, typ := number(v[2]), number(v[3])
		w.linked = w.linked || store.Type(typ) == store.Symlink
		w.found[i] = resolved{store.Ino(ino), store.Type(typ)}
		if parent == 0 {
			return
		}
		name := string(w.names[i])
		if e, err := store.DecodeEntry(parent, name, ino, typ); err == nil {
			k.learn(store.EntryKey{Dir: parent, Name: name}, e)
		}
	}}
}

// xattrStep returns the statement that reads the extended attributes of the inodes where paths end.
func (w *walk) xattrStep(lists map[store.Ino]*xattrList) step {
	return step{statement: selectWalkXattrs, args: []any{w.tops, w.first, w.last, w.names}, row: func(v [][]byte) {
		ino := store.Ino(number(v[0]))
		if lists[ino] == nil {
			lists[ino] = new(xattrList)
		}
		lists[ino].add(ino, v[1], v[2])
	}}
}

// ends calls yield with the inodes where paths end, except those where another path goes on.
func (w *walk) ends(yield func(ino store.Ino) bool) {
	for i, at := range w.found {
		if at.ino != 0 && w.last[i] < w.first[i] && !yield(at.ino) {
			return
		}
	}
}

// finish notes which names nothing has.
func (w *walk) finish(k *readCache) {
	for i := len(w.tops); i < len(w.names); i++ {
		if dir := w.found[w.parents[i]]; dir.typ == store.Dir && w.found[i].ino == 0 {
			k.learn(store.EntryKey{Dir: dir.ino, Name: string(w.names[i])}, store.Entry{})
		}
	}
}

// ReadAhead implements store.AheadReader.
func (r *rx) ReadAhead(paths ...store.Path) error {
	if r.cache.has(paths, func(store.Ino) bool { return false }) {
		return nil
	}
	w := newWalk(paths)
	err := r.ask(w.step(&r.cache))
	if err == nil {
		w.finish(&r.cache)
	}
	return err
}
