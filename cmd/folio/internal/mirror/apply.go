package mirror

import (
	"errors"
	"io/fs"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// A step is an entry with the change of its file.
type step struct {
	*tree.Entry
	op *op
}

// Apply implements disk.Differ. It is called on the goroutine of Run.
func (m *mirror) Apply(entries []*tree.Entry) error {
	n := len(entries)
	steps := make([]step, n)
	for i, o := range m.planned.take(n) {
		steps[i] = step{entries[i], o}
	}
	if n > 1 && entries[n-1].Content != nil { // an error in it rolls its transaction back
		if err := m.transaction(steps[:n-1]); err != nil {
			return err
		}
		steps = steps[n-1:]
	}
	return m.transaction(steps)
}

// transaction applies all steps whose content can be read (M2).
func (m *mirror) transaction(steps []step) error {
	steps = m.readable(steps)
	if len(steps) == 0 {
		return nil
	}
	err := m.update(steps)
	if e, ok := err.(*sourceError); ok && m.ctx.Err() == nil {
		m.skip(steps[0].op.Path, e.error)
		return nil
	}
	if err != nil {
		return err
	}
	for _, s := range steps {
		m.report(s)
	}
	return nil
}

// readable leaves out entries without their content, and further names of such.
func (m *mirror) readable(steps []step) (list []step) {
	for _, s := range steps {
		switch {
		case s.Err != nil:
			m.skip(s.op.Path, s.Err)
		case s.op.Kind == Linked && m.skipped[s.op.first]:
			m.skip(s.op.Path, ErrFirst)
		default:
			list = append(list, s)
		}
	}
	return list
}

func (m *mirror) skip(path string, why error) {
	if !harmless(why) {
		m.stats.Skipped++
	}
	m.skipped[path] = true
	m.Warn(path, why)
}

func (m *mirror) update(steps []step) error {
	if m.DryRun {
		return nil
	}
	return m.v.Update(m.ctx, func(tx *folio.Tx) error {
		for _, s := range steps {
			if err := m.apply(tx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

func (m *mirror) apply(tx *folio.Tx, s step) error {
	if s.op.Kind == Removed || s.op.clear {
		if err := tx.RemoveAll(s.Name); err != nil {
			return err
		}
	}
	switch s.op.Kind {
	case Removed:
		return nil
	case Linked:
		return meanwhile(s.Name, tx.Link(m.place(s.op.first), s.Name))
	case New, Changed:
		return m.addFile(tx, s.Entry)
	}
	return meanwhile(s.Name, tx.SetHeader(&s.Header))
}

// A sourceError is about the file on disk.
type sourceError struct{ error }

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
		return &fs.PathError{Op: "sync", Path: name, Err: tree.ErrMeanwhile}
	}
	return err
}

// report counts a change, and tells about it.
func (m *mirror) report(s step) {
	if s.op.Kind == 0 {
		return
	}
	m.stats.Done[s.op.Kind]++
	m.stats.Bytes += s.Size
	if s.Content == nil {
		m.copied(s.Size)
	}
	if m.Changed != nil {
		m.Changed(s.op.Change)
	}
}
