package pgstore

import (
	"context"
	"strings"

	"github.com/foliofs/folio/store"
)

// A walk reads paths with all their entries and inodes in one statement.
type walk struct {
	tops, first, last []int64  // of each path: where it begins, and which names it has, counted from 1
	names             [][]byte // of all paths
	ends              []end    // of each path
	linked            bool     // there is a symbolic link in one of them
}

// An end is how far a path leads.
type end struct {
	at  int64 // the next name
	ino store.Ino
	typ store.Type
}

// newWalk returns the walk for some paths. Each of them ends before an element that is no name.
func newWalk(paths []store.Path) *walk {
	w := new(walk)
	for _, p := range paths {
		w.tops, w.first = append(w.tops, int64(p.Top)), append(w.first, int64(len(w.names)+1))
		for elem := range strings.SplitSeq(p.Name, "/") {
			if elem == "" || elem == "." {
				continue
			}
			if !store.ValidName(elem) {
				break
			}
			w.names = append(w.names, []byte(elem))
		}
		w.last = append(w.last, int64(len(w.names)))
	}
	w.ends = make([]end, len(paths))
	return w
}

// step returns the statement. What it finds goes to k, and the version of the snapshot to version.
func (w *walk) step(k *known, version *int64) step {
	return step{statement: selectWalk, args: []any{w.tops, w.first, w.last, w.names}, row: func(v [][]byte) {
		*version = number(v[16])
		k.learnRow(v[5:16])
		path, at, parent := number(v[0])-1, number(v[1]), store.Ino(number(v[2]))
		if path < 0 || path >= int64(len(w.ends)) {
			return
		}
		ino, typ := number(v[3]), number(v[4])
		w.linked = w.linked || store.Type(typ) == store.Symlink
		if e := &w.ends[path]; at > e.at {
			*e = end{at, store.Ino(ino), store.Type(typ)}
		}
		if parent == 0 || at < 2 || at > int64(len(w.names)+1) {
			return
		}
		name := string(w.names[at-2])
		if e, err := entryOf(parent, name, ino, typ); err == nil {
			k.learn(store.EntryKey{Dir: parent, Name: name}, e)
		}
	}}
}

// finish notes where paths lead to nothing.
func (w *walk) finish(k *known) {
	for i, e := range w.ends {
		if e.at > 0 && e.at <= w.last[i] && e.typ == store.Dir {
			k.learn(store.EntryKey{Dir: e.ino, Name: string(w.names[e.at-1])}, store.Entry{})
		}
	}
}

// BeginAt implements store.Walker.
func (s *Store) BeginAt(ctx context.Context, p store.Path, only bool) (store.Rx, error) {
	r, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	err = s.repeat(ctx, func() error {
		if only {
			w := newWalk([]store.Path{p})
			if err := r.glance(ctx, w); err != nil || !w.linked {
				return err
			}
		}
		r.known, r.version, r.broken = known{bounded: true}, 0, nil
		return r.ReadAhead(p)
	})
	if err != nil {
		r.End()
		return nil, err
	}
	return r, nil
}

// glance reads paths without a transaction: the statement is one.
func (r *rx) glance(ctx context.Context, w *walk) error {
	r.known, r.version = known{bounded: true}, 0
	c, err := r.s.connect(ctx, 0, w.step(&r.known, &r.version))
	if err != nil {
		return err
	}
	c.Release()
	w.finish(&r.known)
	return nil
}

// ReadAhead implements store.AheadReader.
func (r *rx) ReadAhead(paths ...store.Path) error {
	w, version := newWalk(paths), int64(0)
	if r.known.has(w, func(store.Ino) bool { return false }) {
		return nil
	}
	err := r.ask(w.step(&r.known, &version))
	if err == nil {
		w.finish(&r.known)
	}
	return err
}
