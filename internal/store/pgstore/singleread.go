package pgstore

import (
	"context"
	"strings"

	"github.com/foliofs/folio/internal/store"
)

// A reader that needs only the inode at the end of a path, or a small content, reads both by one
// statement without a transaction. ReadFile makes one trip then in place of two.

// BeginAt implements store.Walker.
func (s *Store) BeginAt(ctx context.Context, p store.Path, need store.Need) (store.Rx, error) {
	r, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	if need == store.NeedAnswer {
		r.need, r.bare, r.readOnce = need, true, true
		return r, nil
	}
	more := need&store.NeedMore != 0
	if r.need = need &^ store.NeedMore; more && r.need == store.NeedContent && s.largeFiles.Load() {
		r.need = store.NeedNode
	}
	err = s.repeat(ctx, func() error {
		if r.canReadOnce(p) {
			if enough, err := r.readPath(p, more); err != nil || enough {
				return err
			}
		}
		r.cache, r.version, r.readOnce, r.single, r.broken = s.emptyCache(), 0, false, false, nil
		return r.ReadAhead(p)
	})
	if err != nil {
		r.End()
		return nil, err
	}
	return r, nil
}

// canReadOnce reports whether one statement may read the needed parts of a path. It cannot if the
// path goes back, and is not likely to if the file that was read last was large.
func (r *rx) canReadOnce(p store.Path) bool {
	switch r.need {
	case store.NeedNode, store.NeedEntry, store.NeedInode:
	case store.NeedContent:
		if r.s.largeFiles.Load() {
			return false
		}
	default:
		return false
	}
	return p.Name == "." || isPlain(p.Name)
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

// readPath reads a path by one statement. It reports whether that is enough, or whether more can be
// read if the caller may read more.
func (r *rx) readPath(p store.Path, more bool) (enough bool, err error) {
	r.cache, r.version, r.readOnce, r.single = r.s.emptyCache(), 0, true, more
	w, withContent := newWalk([]store.Path{p}), r.need == store.NeedContent || r.need == store.NeedInode
	st, content := w.step(&r.cache), []byte(nil)
	row := st.row
	st.args = append(st.args, more || r.s.recent.most > 0)
	st.statement, st.row = selectPath, func(v [][]byte) {
		row(v)
		r.version = number(v[15])
		if withContent {
			content = append(content, v[16]...)
		}
	}
	if withContent {
		st.statement = selectPathContent
	}
	if err := r.look(st); err != nil {
		return false, err
	}
	w.finish(&r.cache)
	if w.linked && (r.need == store.NeedNode || r.need == store.NeedContent) {
		return false, nil
	}
	at := w.found[len(w.found)-1]
	enough = r.keepContent(at, content)
	if _, ok := r.cache.nodes[at.ino]; more && (ok || at.ino == 0) {
		enough = true
	}
	return enough, nil
}

// keepContent keeps the content of the file that a path leads to, and reports whether it is all
// that is needed of it, with the inode. Anything but a file has no content to read.
func (r *rx) keepContent(at resolved, content []byte) bool {
	n, ok := r.cache.nodes[at.ino]
	if !ok && at.ino != 0 { // another statement would see another state of the volume
		return false
	}
	switch {
	case r.need == store.NeedContent && at.typ == store.File:
	case r.need == store.NeedInode && ok && (n.IsRegular() || store.TypeOf(n.Mode) == store.Symlink):
	default:
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
