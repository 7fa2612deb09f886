package overlay

import (
	"errors"
	"io/fs"
	"iter"
	"path"

	"github.com/foliofs/folio/internal/store"
)

// An rx is a snapshot of the upper store, over the base as it is. It implements store.Rx.
type rx struct {
	s     *layers
	up    store.Rx
	seq   uint64 // of Store, before the snapshot
	ended bool
}

// End implements store.Rx. A second time it does nothing.
func (r *rx) End() {
	r.up.End()
	if !r.ended {
		r.ended = true
		r.s.gate.Leave()
	}
}

// Version implements store.Rx.
func (r *rx) Version() uint64 {
	if r.s.options.BaseChanges {
		return 0
	}
	return r.up.Version()
}

// A spot is an inode of the overlay: in the upper store, or only in the base.
type spot struct {
	node  store.Node // in the upper store; Ino is 0 if the file is only in the base
	place int32      // in the base, if it is only there
}

func (p *spot) isLower() bool { return p.node.Ino == 0 }

// find returns the spot of an inode.
func (r *rx) find(ino store.Ino) (p spot, err error) {
	at, f, lower := r.s.numbers.get(ino)
	switch {
	case !lower:
		p.node, err = r.up.Node(ino)
		return p, err
	case f.upper == 0:
		return spot{place: at}, nil
	}
	p.node, err = r.up.Node(f.upper)
	if errors.Is(err, fs.ErrNotExist) && (f.since == 0 || r.seq < f.since) {
		return spot{place: at}, nil // the snapshot is older than the copy
	}
	return p, err
}

// record returns the record of an inode of the upper store, nil if it has none.
func (r *rx) record(upper store.Ino) (*Record, error) {
	list, err := r.up.Xattrs(upper)
	if err != nil {
		return nil, err
	}
	return findRecord(list, attrRecord)
}

// below returns the path of the directory of the base that is seen in a directory, "" if there is
// none.
func (r *rx) below(p *spot) (string, error) {
	switch {
	case p.isLower():
		return r.s.numbers.path(p.place), nil
	case p.node.Ino == store.Root:
		return ".", nil
	case store.TypeOf(p.node.Mode) != store.Dir || p.node.Nlink == 0:
		return "", nil
	}
	rec, err := r.record(p.node.Ino)
	if err != nil || rec == nil {
		return "", err
	}
	r.s.numbers.learn(r.s.numbers.placeOf(rec.Path), p.node.Ino, min(r.seq, r.s.seq.Load()))
	return rec.Path, nil
}

// Node implements store.Rx.
func (r *rx) Node(ino store.Ino) (store.Node, error) {
	p, err := r.find(ino)
	if err != nil {
		return store.Node{}, err
	}
	if p.isLower() {
		return r.lowerNode(ino, p.place)
	}
	n := p.node
	switch store.TypeOf(n.Mode) {
	case store.Dir:
		err = r.countLinks(&p, &n)
	case store.File:
		if n.Holes > 0 {
			var rec *Record
			if rec, err = r.record(n.Ino); rec != nil && rec.Limit > 0 {
				n.Holes = 0 // of the content that is seen, no hole is known
			}
		}
	}
	n.Ino = ino
	return n, err
}

// lowerNode returns an inode that is only in the base.
func (r *rx) lowerNode(ino store.Ino, at int32) (store.Node, error) {
	name := r.s.numbers.path(at)
	n, err := r.s.base.stat(name)
	if err != nil {
		return store.Node{}, err
	}
	n.Ino = ino
	if store.TypeOf(n.Mode) == store.Dir {
		list, err := r.s.base.list(name)
		switch {
		case err == nil:
			n.Nlink += uint32(list.dirs)
		case !errors.Is(err, fs.ErrPermission): // a directory that cannot be read can be seen
			return n, err
		}
	}
	return n, nil
}

// countLinks adds to the links of a directory one for each directory that is only in the base.
func (r *rx) countLinks(p *spot, n *store.Node) error {
	dir, err := r.below(p)
	if dir == "" || err != nil {
		return err
	}
	list, err := r.s.base.list(dir)
	if err != nil || list.dirs == 0 {
		return nil // the listing returns the error
	}
	hidden := 0
	for e, err := range r.entries(p.node.Ino, "") {
		if err != nil {
			return err
		}
		if below, ok := list.find(e.Name); ok && below.typ == store.Dir {
			hidden++
		}
	}
	n.Nlink += uint32(max(0, list.dirs-hidden))
	return nil
}

// listStep is how many entries of the upper store are read at once.
const listStep = 256

// entries yields the entries of a directory of the upper store that sort after a name.
func (r *rx) entries(upper store.Ino, after string) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		var l store.Listing
		for {
			l.Reset()
			if err := r.up.List(upper, after, listStep, &l); err != nil {
				yield(store.Entry{}, err)
				return
			}
			list := l.Entries()
			for _, e := range list {
				if !yield(e, nil) {
					return
				}
				after = e.Name
			}
			if len(list) < listStep {
				return
			}
		}
	}
}

// whiteout reports whether an entry of the upper store hides a name.
func (r *rx) whiteout(e *store.Entry) (bool, error) {
	if e.Type != store.Char {
		return false, nil
	}
	n, err := r.up.Node(e.Ino)
	if errors.Is(err, fs.ErrNotExist) { // in a damaged volume
		return false, nil
	}
	return isWhiteout(&n), err
}

// Lookup implements store.Rx.
func (r *rx) Lookup(dir store.Ino, name string) (store.Entry, error) {
	p, err := r.find(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return store.Entry{}, err
		}
		if p.node.Ino = dir; dir >= firstLower { // entries of a damaged volume may be in no directory
			return store.Entry{}, fs.ErrNotExist
		}
	}
	if !p.isLower() {
		e, err := r.up.Lookup(p.node.Ino, name)
		if err == nil {
			return r.shownEntry(e)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return e, err
		}
	}
	return r.lookupLower(&p, name)
}

// shownEntry returns an entry of the upper store as it is seen.
func (r *rx) shownEntry(e store.Entry) (store.Entry, error) {
	hides, err := r.whiteout(&e)
	if err == nil && hides {
		err = fs.ErrNotExist
	}
	if err != nil {
		return store.Entry{}, err
	}
	e.Ino = r.s.numbers.shown(e.Ino)
	return e, nil
}

// lookupLower looks for a name in the base.
func (r *rx) lookupLower(p *spot, name string) (store.Entry, error) {
	n, full, err := r.lower(p, name)
	if err != nil {
		return store.Entry{}, err
	}
	at := r.s.numbers.seen(r.s.numbers.placeOf(path.Dir(full)), name, r.seq)
	return store.Entry{Name: name, Ino: number(at), Type: store.TypeOf(n.Mode)}, nil
}

// lower returns the base's file at a name of a directory, and its path there. It returns
// fs.ErrNotExist if that is nothing.
func (r *rx) lower(p *spot, name string) (n store.Node, full string, err error) {
	if !store.ValidName(name) {
		return n, "", fs.ErrNotExist
	}
	dir, err := r.below(p)
	if err != nil {
		return n, "", err
	}
	full = path.Join(dir, name)
	if dir == "" || !validPath(full) {
		return n, full, fs.ErrNotExist
	}
	n, err = r.s.base.stat(full)
	return n, full, err
}

// Xattrs implements store.Rx.
func (r *rx) Xattrs(ino store.Ino) ([]store.Xattr, error) {
	p, err := r.find(ino)
	if errors.Is(err, fs.ErrNotExist) && ino < firstLower {
		p.node.Ino, err = ino, nil // rows of a damaged volume
	}
	if err != nil {
		return nil, err
	}
	if p.isLower() {
		return r.s.base.xattrs(r.s.numbers.path(p.place))
	}
	list, err := r.up.Xattrs(p.node.Ino)
	return visible(list), err
}
