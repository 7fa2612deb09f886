package mirror

import (
	"errors"
	"io/fs"

	"github.com/foliofs/folio/cmd/folio/internal/tree"

	"github.com/foliofs/folio"
)

// ErrMeanwhile says that another program has changed the same directory of the volume.
var ErrMeanwhile = errors.New("was changed by another program meanwhile")

// Apply implements disk.Differ. It is called on the goroutine of Run.
func (m *mirror) Apply(entries []*tree.Entry) error {
	n := len(entries)
	if n > 1 && entries[n-1].Content != nil { // an error in it rolls its transaction back
		if err := m.transaction(entries[:n-1]); err != nil {
			return err
		}
		entries = entries[n-1:]
	}
	return m.transaction(entries)
}

// transaction applies all entries whose content can be read (M2).
func (m *mirror) transaction(entries []*tree.Entry) error {
	entries = m.readable(entries)
	if len(entries) == 0 {
		return nil
	}
	err := m.update(entries)
	if e, ok := err.(*sourceError); ok && m.ctx.Err() == nil {
		m.skip(entries[0], e.error)
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		m.report(e)
	}
	return nil
}

// readable leaves out entries without their content, and further names of such.
func (m *mirror) readable(entries []*tree.Entry) (list []*tree.Entry) {
	for _, e := range entries {
		switch o := e.Note.(*op); {
		case e.Err != nil:
			m.skip(e, e.Err)
		case o.Kind == Linked && m.skipped[o.first]:
			m.skip(e, ErrFirst)
		default:
			list = append(list, e)
		}
	}
	return list
}

func (m *mirror) skip(e *tree.Entry, why error) {
	path := e.Note.(*op).Path
	if !harmless(why) {
		m.stats.Skipped++
	}
	m.skipped[path] = true
	m.Warn(path, why)
}

func (m *mirror) update(entries []*tree.Entry) error {
	if m.DryRun {
		return nil
	}
	return m.v.Update(m.ctx, func(tx *folio.Tx) error {
		for _, e := range entries {
			if err := m.apply(tx, e); err != nil {
				return err
			}
		}
		return nil
	})
}

func (m *mirror) apply(tx *folio.Tx, e *tree.Entry) error {
	o := e.Note.(*op)
	if o.Kind == Removed || o.clear {
		if err := tx.RemoveAll(e.Name); err != nil {
			return err
		}
	}
	switch o.Kind {
	case Removed:
		return nil
	case Linked:
		return meanwhile(e.Name, tx.Link(m.place(o.first), e.Name))
	case New, Changed:
		return m.addFile(tx, e)
	}
	return meanwhile(e.Name, tx.SetHeader(&e.Header))
}

func (m *mirror) addFile(tx *folio.Tx, e *tree.Entry) error {
	meter := &tree.Meter{R: e.Content, Count: m.copied}
	if e.Content != nil {
		e.Content = meter
	}
	err := e.AddTo(tx, &e.Header)
	if meter.Err != nil {
		return &sourceError{meter.Err}
	}
	return meanwhile(e.Name, err)
}

func (m *mirror) copied(bytes int64) {
	if m.Seen != nil {
		m.Seen(0, bytes)
	}
}

// meanwhile says why something that was compared is not as it was any more.
func meanwhile(name string, err error) error {
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, folio.ErrNotDirectory) {
		return &fs.PathError{Op: "sync", Path: name, Err: ErrMeanwhile}
	}
	return err
}

// report counts a change, and tells about it.
func (m *mirror) report(e *tree.Entry) {
	o := e.Note.(*op)
	if o.Kind == 0 {
		return
	}
	m.stats.Done[o.Kind]++
	m.stats.Bytes += e.Size
	if e.Content == nil {
		m.copied(e.Size)
	}
	if m.Changed != nil {
		m.Changed(o.Change)
	}
}
