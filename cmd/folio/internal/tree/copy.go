package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// A Sink takes in the entries of a tree: a directory on disk, an archive, a new volume, or a
// directory of a volume, as cp or as import fills it.
type Sink interface {
	// Add takes in an entry, in walk order. If the entry cannot be read, the error is a
	// *EntryError.
	Add(e *Entry) error
	// Finish is called after the last entry. It sets the times of directories, which change while
	// files are added to them.
	Finish() error
}

// A Copy copies trees from sources to a sink. import, put, cp, get and export all copy with
// one.
type Copy struct {
	Ctx      context.Context
	To       Sink
	Progress Progress
	Stats    folio.BuildStats // of the entries that the sink took in

	SinkFailed bool // an error was the sink's
}

// A Progress receives the progress of a copy.
type Progress interface {
	// Expect adds the bytes that size returns, if it knows them, to the total. It does
	// not call size if nothing is shown.
	Expect(size func() (bytes int64, ok bool))
	AddBytes(n int64)
	AddFile()
}

// Run copies the tree of a source, and tells the progress its size. An error of the source comes
// with its name. An error of the sink stays as it is, and sets SinkFailed.
func (t *Copy) Run(src Source) error {
	t.Progress.Expect(func() (int64, bool) { return src.Size(t.Ctx) })
	if err := t.Walk(src); err != nil {
		return err
	}
	err := t.To.Finish()
	t.SinkFailed = err != nil
	return err
}

// Walk copies the entries of one of several sources. The caller must finish the sink after the
// last.
func (t *Copy) Walk(src Source) error {
	var own error // of the sink
	err := src.Walk(t.Ctx, func(e *Entry) error {
		err := t.add(e)
		if _, reading := errors.AsType[*EntryError](err); !reading {
			own = err
		}
		return err
	})
	if own != nil && errors.Is(err, own) { // and not an error of the content that the sink was reading
		t.SinkFailed = true
		return own
	}
	return src.Fail(err)
}

// add passes an entry on, and counts it.
func (t *Copy) add(e *Entry) error {
	if e.Content != nil {
		e.Content = &Meter{Ctx: t.Ctx, R: e.Content, Count: t.Progress.AddBytes}
	} else {
		t.Progress.AddBytes(int64(len(e.Data)))
	}
	if err := t.To.Add(e); err != nil {
		return err
	}
	t.count(e)
	t.Progress.AddFile()
	return nil
}

// count adds an entry to the statistics. The root of a tree does not count.
func (t *Copy) count(e *Entry) {
	s := &t.Stats
	switch {
	case e.Link != "":
		s.Links++
	case e.Mode.IsRegular():
		s.Files++
		s.Bytes += e.Size
	case e.Mode.Type() == fs.ModeSymlink:
		s.Symlinks++
	case !e.Mode.IsDir():
		s.Others++
	case e.Name != ".":
		s.Dirs++
	}
}

// A sharedFile is a file with several names, in a volume or on disk.
type sharedFile struct {
	volume string // "" on disk
	id     FileID
}

// FirstNames are the names that files with several names got first in a sink. The nil map means
// that each name becomes a file of its own, unless the source says otherwise.
type FirstNames map[sharedFile]string

// Link returns the name that the file of an entry has in the sink already, or "". top is the name
// of the entry ".". The entry gets the name to, which link notes.
func (n FirstNames) Link(volume string, e *Entry, top, to string) string {
	if e.Link != "" {
		return path.Join(top, e.Link)
	}
	if !e.Shared || n == nil {
		return ""
	}
	key := sharedFile{volume, e.ID}
	first := n[key]
	if first == "" {
		n[key] = to
	}
	return first
}

// Summary tells how much was copied, and how long that took.
func Summary(s folio.BuildStats, took time.Duration) string {
	var b strings.Builder
	b.WriteString(value.Count(s.Files, "file", "files"))
	for _, n := range []struct {
		n                int64
		singular, plural string
	}{
		{s.Dirs, "directory", "directories"},
		{s.Symlinks, "symlink", "symlinks"},
		{s.Links, "hard link", "hard links"},
		{s.Others, "special file", "special files"},
	} {
		if n.n > 0 {
			fmt.Fprintf(&b, ", %s", value.Count(n.n, n.singular, n.plural))
		}
	}
	fmt.Fprintf(&b, ", %s in %.2f s", value.BinarySize(s.Bytes), took.Seconds())
	return b.String()
}
