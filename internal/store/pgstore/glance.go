package pgstore

import (
	"context"
	"strings"

	"github.com/foliofs/folio/internal/store"
)

// A reader that needs only the inode at the end of a path, or a small content, takes a glance: one
// statement without a transaction. Mostly the Store remembers where the directory of the file is,
// and guesses that it is still there. The statement tells whether that is true. If not, another one
// reads the path as a whole.

// BeginAt implements store.Walker.
func (s *Store) BeginAt(ctx context.Context, p store.Path, need store.Need) (store.Rx, error) {
	r, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	r.need = need
	err = s.repeat(ctx, func() error {
		if r.canGlance(p) {
			if enough, err := r.glance(p); err != nil || enough {
				return err
			}
		}
		r.known, r.version, r.glanced, r.broken = s.knowNothing(), 0, false, nil
		return r.ReadAhead(p)
	})
	if err != nil {
		r.End()
		return nil, err
	}
	return r, nil
}

// canGlance reports whether one statement may read what is needed of a path. It cannot if the path
// goes back, and is not likely to if the file that was read last was large.
func (r *rx) canGlance(p store.Path) bool {
	return (r.need == store.NeedNode || r.need == store.NeedContent && !r.s.largeFiles.Load()) && (p.Name == "." || isPlain(p.Name))
}

// isPlain reports whether a path consists of names.
func isPlain(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if !store.ValidName(name) {
			return false
		}
	}
	return true
}

// glance reads a path. It reports whether that is enough.
func (r *rx) glance(p store.Path) (enough bool, err error) {
	r.known, r.version, r.glanced = r.s.knowNothing(), 0, true
	if done, enough, err := r.glanceIn(p); done || err != nil {
		return enough, err
	}
	r.known = r.s.knowNothing()
	w := newWalk([]store.Path{p})
	st, move, content := w.step(&r.known), int64(0), []byte(nil)
	row := st.row
	st.args = append(st.args, r.s.recent.most > 0)
	st.statement, st.row = selectPath, func(v [][]byte) {
		row(v)
		move, r.version = number(v[15]), number(v[16])
		if r.need == store.NeedContent {
			content = append(content, v[17]...)
		}
	}
	if r.need == store.NeedContent {
		st.statement = selectPathContent
	}
	if err := r.look(st); err != nil {
		return false, err
	}
	w.finish(&r.known)
	if w.linked {
		return false, nil
	}
	r.s.places.learn(move, p, w.found)
	return r.keepContent(w.found[len(w.found)-1], content), nil
}

// glanceIn reads the last name of a path, if the Store remembers the directory. done is false if it
// does not, or if that may be another one now.
func (r *rx) glanceIn(p store.Path) (done, enough bool, err error) {
	if r.s.recent.most > 0 { // the version is needed
		return false, false, nil
	}
	at, ok := r.s.places.find(p, &r.known)
	if !ok {
		return false, false, nil
	}
	var answered, moved bool
	var last end
	var content []byte
	st := step{statement: selectIn, args: []any{int64(at.dir), []byte(at.name), at.move}, row: func(v [][]byte) {
		answered, moved = true, v[0][0] != 0
		if last.ino = store.Ino(number(v[1])); last.ino == at.dir { // nothing has the name
			last = end{}
			r.known.setEntry(store.EntryKey{Dir: at.dir, Name: at.name}, store.Entry{})
			return
		}
		r.known.learnRow(v[1:12])
		last.typ = store.TypeOf(uint32(number(v[2])))
		if e, err := entryOf(at.dir, at.name, int64(last.ino), int64(last.typ)); err == nil {
			r.known.setEntry(store.EntryKey{Dir: at.dir, Name: at.name}, e)
		}
		if r.need == store.NeedContent {
			content = append(content, v[12]...)
		}
	}}
	if r.need == store.NeedContent {
		st.statement = selectInContent
	}
	if err := r.look(st); err != nil {
		return false, false, err
	}
	right := answered && !moved // without an answer, the directory is gone, or the entry leads nowhere
	r.s.places.note(right)
	if !right {
		return false, false, nil
	}
	return true, last.typ != store.Symlink && r.keepContent(last, content), nil
}

// look makes the only trip of a glance.
func (r *rx) look(st step) error {
	st.soon = true
	c, err := r.s.connect(r.ctx, 0, st)
	if err == nil {
		c.Release()
	}
	return err
}

// keepContent keeps the content of the file that a path leads to, and reports whether it is all
// that is needed of it, with the inode. Anything but a file has no content to read.
func (r *rx) keepContent(at end, content []byte) bool {
	n, ok := r.known.nodes[at.ino]
	if !ok && at.ino != 0 { // another statement would see another state of the volume
		return false
	}
	if r.need != store.NeedContent || at.typ != store.File {
		return true
	}
	if int64(len(content)) != n.Size {
		return false
	}
	if len(content) > 0 {
		r.files.put(at.ino, content)
	}
	return true
}
