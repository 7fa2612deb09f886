package mirror

import (
	"errors"
	"io/fs"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// Apply implements disk.Differ. It is called on the goroutine of Run.
func (m *mirror) Apply(entries []*tree.Entry) error {
	if n := len(entries); n > 1 && entries[n-1].Content != nil { // an error in it rolls its transaction back
		if err := m.transaction(entries[:n-1]); err != nil {
			return err
		}
		entries = entries[n-1:]
	}
	return m.transaction(entries)
}

// transaction makes all changes whose content can be read (M2).
func (m *mirror) transaction(entries []*tree.Entry) error {
	entries = m.readable(entries)
	if len(entries) == 0 {
		return nil
	}
	err := m.update(entries)
	if e, ok := err.(*sourceError); ok && m.ctx.Err() == nil {
		m.skip(m.path(entries[0]), e.error)
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
		switch {
		case e.Err != nil:
			m.skip(m.path(e), e.Err)
		case m.skipped[e.Link]: // an entry that is no link has an empty one
			m.skip(m.path(e), ErrFirst)
		default:
			list = append(list, e)
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

// update makes a number of changes in one transaction, or none with --dry-run.
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

// apply makes one change. A file of another type with the name goes first.
func (m *mirror) apply(tx *folio.Tx, e *tree.Entry) error {
	kind := kindOf(e)
	if kind == Removed || e.Tag&clear != 0 {
		if err := tx.RemoveAll(e.Name); err != nil {
			return err
		}
	}
	switch kind {
	case Removed:
		return nil
	case Linked:
		return meanwhile(e.Name, tx.Link(m.place(e.Link), e.Name))
	case New, Changed:
		return m.addFile(tx, e)
	}
	return meanwhile(e.Name, tx.SetHeader(&e.Header))
}

func kindOf(e *tree.Entry) Kind { return Kind(e.Tag &^ clear) }

// A sourceError is about the file on disk.
type sourceError struct{ error }

// addFile adds a file with its content. An error of reading the source is a *sourceError, so that
// the caller can leave this file out and go on.
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
func (m *mirror) report(e *tree.Entry) {
	kind := kindOf(e)
	if kind == 0 {
		return
	}
	m.stats.Done[kind]++
	m.stats.Bytes += e.Size
	if e.Content == nil {
		m.copied(e.Size)
	}
	if m.Changed != nil {
		m.Changed(Change{Kind: kind, Path: m.path(e), IsDir: e.Mode.IsDir()})
	}
}
