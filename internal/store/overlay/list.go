package overlay

import (
	"errors"
	"io/fs"

	"github.com/foliofs/folio/internal/store"
)

// List implements store.Rx.
func (r *rx) List(dir store.Ino, after string, most int, l *store.Listing) error {
	p, err := r.find(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if dir >= firstLower {
			return nil // a directory that does not exist has no entries
		}
		p.node.Ino, err = dir, nil
	}
	if err != nil {
		return err
	}
	name, err := r.below(&p)
	if err != nil {
		return err
	}
	m := merge{r: r, l: l, left: most}
	if name != "" {
		if err := m.readLower(name, after); err != nil {
			return err
		}
	}
	if p.isLower() {
		m.add("", true)
		return nil
	}
	if name == "" {
		return m.addUpper(p.node.Ino, after, most)
	}
	return m.run(p.node.Ino, after)
}

// A merge puts the entries of a directory in both stores into one list.
type merge struct {
	r     *rx
	l     *store.Listing
	left  int // entries that are wanted; 0 or less means all
	full  bool
	place int32        // of the directory in the base
	lower []lowerEntry // which are to come
}

// readLower reads the directory of the base. One that was copied up may be gone, or be no directory
// any more: then it has no entries.
func (m *merge) readLower(name, after string) error {
	list, err := m.r.s.base.list(name)
	switch {
	case err == nil:
		m.place, m.lower = m.r.s.numbers.placeOf(name), list.after(after)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
	return nil
}

// run lists a directory of the upper store, with the entries of the base.
func (m *merge) run(upper store.Ino, after string) error {
	for e, err := range m.r.entries(upper, after) {
		if err != nil {
			return err
		}
		if m.add(e.Name, false); m.full {
			return nil
		}
		hides, err := m.r.whiteout(&e)
		if err != nil {
			return err
		}
		if !hides {
			m.addOne(e.Name, m.r.s.numbers.shown(e.Ino), e.Type)
		}
		if m.full {
			return nil
		}
	}
	m.add("", true)
	return nil
}

// add adds the entries of the base that sort before a name, or all, and passes over one that has
// the name.
func (m *merge) add(before string, all bool) {
	for len(m.lower) > 0 && !m.full && (all || m.lower[0].name <= before) {
		e := m.lower[0]
		m.lower = m.lower[1:]
		if all || e.name != before {
			m.addOne(e.name, number(m.r.s.numbers.seen(m.place, e.name, m.r.seq)), e.typ)
		}
	}
}

func (m *merge) addOne(name string, ino store.Ino, typ store.Type) {
	m.l.Add([]byte(name), ino, typ)
	if m.left--; m.left == 0 {
		m.full = true
	}
}

// addUpper lists a directory that has nothing of the base in it.
func (m *merge) addUpper(upper store.Ino, after string, most int) error {
	start := len(m.l.Items)
	if err := m.r.up.List(upper, after, most, m.l); err != nil {
		return err
	}
	for i := start; i < len(m.l.Items); i++ {
		m.l.Items[i].Ino = m.r.s.numbers.shown(m.l.Items[i].Ino)
	}
	return nil
}
