package mirror

import (
	"io/fs"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
)

// The Tag of an entry says how to change its file: a Kind, or 0 if the file only gets back its old
// times, and perhaps clear. Of Linked, the Link of the entry is the name that the file has already.
const clear = 1 << 7 // something is in the way, and goes

// A links knows the files with several names.
type links struct {
	first   map[tree.FileID]firstName // files on disk that were met
	claimed map[uint64]bool           // inodes in the volume with several names that stand for one of them
}

// A firstName is the name by which a file was met first.
type firstName struct {
	path string
	ino  uint64 // in the volume; 0 if it will be a new one
}

func newLinks() links {
	return links{make(map[tree.FileID]firstName), make(map[uint64]bool)}
}

// A planner decides about one directory.
type planner struct {
	*mirror
	d       *disk.Dir
	known   *dirDiff
	out     *disk.Out
	touched bool // its time of change will have to be set
}

// Compare implements disk.Differ. It is called on one goroutine.
func (m *mirror) Compare(d *disk.Dir, out *disk.Out) error {
	if d.Err != nil {
		if d.Up == nil {
			return &tree.EntryError{Name: d.Path, Err: d.Err}
		}
		m.leave(d.Path, d.Err)
		return nil
	}
	c := &planner{mirror: m, d: d, known: d.Comparison.(*dirDiff), out: out}
	if err := c.removeExtra(); err != nil {
		return err
	}
	for i := range d.Files {
		if err := c.file(&d.Files[i], &c.known.files[i]); err != nil {
			return err
		}
	}
	c.known.files, c.known.extra = nil, nil
	return c.directory()
}

// leave leaves a file as it is in the volume (M5).
func (m *mirror) leave(path string, why error) {
	if !harmless(why) {
		m.left++
	}
	m.Warn(path, why)
}

// removeExtra plans to remove the files that only the volume has, if --delete is set.
func (c *planner) removeExtra() error {
	if !c.Delete {
		return nil
	}
	for _, x := range c.known.extra {
		path := tree.Join(c.d.Path, x.name)
		h := folio.Header{}
		if x.isDir {
			h.Mode = fs.ModeDir
		}
		if err := c.add(uint8(Removed), path, h); err != nil {
			return err
		}
	}
	return nil
}

// add passes on a change that has no content.
func (c *planner) add(tag uint8, path string, h folio.Header) error {
	return c.out.Add(c.entry(tag, path, h))
}

// entry returns an entry for Apply.
func (c *planner) entry(tag uint8, path string, h folio.Header) *tree.Entry {
	c.touched = c.touched || Kind(tag) != Attributes
	h.Name = c.place(path)
	return &tree.Entry{Header: h, Tag: tag}
}

// file plans what is to be done about one file of the source. The first name of a file with several
// is planned as the file, the others as links to it.
func (c *planner) file(f *disk.File, j *fileDiff) error {
	switch {
	case f.Err != nil:
		c.leave(f.Path(), f.Err)
		return nil
	case j.err != nil:
		c.leave(f.Path(), j.err)
		return nil
	case j.full && !f.Mode().IsDir() && !c.Delete:
		c.leave(f.Path(), ErrInTheWay)
		return nil
	case f.Mode().IsDir():
		return c.make(f, j)
	case f.Links() > 1:
		if first, ok := c.links.first[f.ID()]; ok {
			return c.link(f, j, first)
		}
	}
	return c.single(f, j)
}

// single decides about a file that is met for the first time. An inode with several names stands
// for one file, and is not changed (M4): this would change it by all of them.
func (c *planner) single(f *disk.File, j *fileDiff) error {
	if shared := j.difference != absent && j.difference != typeDiffers && j.nlink > 1; shared {
		if j.difference == attributesDiffer || c.links.claimed[j.ino] {
			j.difference = contentDiffers
		}
		if j.difference == equal {
			c.links.claimed[j.ino] = true
		}
	}
	if f.Links() > 1 {
		first := firstName{path: f.Path()}
		if j.difference == equal || j.difference == attributesDiffer {
			first.ino = j.ino
		}
		c.links.first[f.ID()] = first
	}
	return c.make(f, j)
}

// link decides about another name of a file.
func (c *planner) link(f *disk.File, j *fileDiff, first firstName) error {
	if j.difference != absent && j.ino == first.ino {
		c.same++
		return nil
	}
	tag := uint8(Linked)
	if j.difference != absent {
		tag |= clear
	}
	e := c.entry(tag, f.Path(), folio.Header{})
	e.Link = first.path
	return c.out.Add(e)
}

// make makes a file in the volume like the file on disk.
func (c *planner) make(f *disk.File, j *fileDiff) error {
	if j.difference == equal {
		c.same++
		return nil
	}
	tag := uint8(Changed | clear)
	switch j.difference {
	case attributesDiffer:
		return c.describe(f)
	case absent:
		tag = uint8(New)
	}
	e := c.entry(tag, f.Path(), c.header(f.Header()))
	switch {
	case !f.Mode().IsRegular():
		return c.out.Add(e)
	case c.DryRun:
		e.Size = f.Size()
		return c.out.Add(e)
	}
	return c.out.AddContent(f, e)
}

func (c *planner) describe(f *disk.File) (err error) {
	h := c.header(f.Header())
	if h.Xattrs, err = f.Xattrs(); err != nil {
		c.leave(f.Path(), err)
		return nil
	}
	return c.add(uint8(Attributes), f.Path(), h)
}

// directory decides about the attributes of the directory itself, after the changes in it, which
// change its time.
func (c *planner) directory() error {
	h := c.header(c.d.Header())
	if !c.touched && c.known.attr != attributesDiffer && (c.known.attr != absent || len(h.Xattrs) == 0) {
		return nil
	}
	tag := uint8(Attributes)
	if c.known.attr != attributesDiffer {
		tag = 0
	}
	return c.add(tag, c.d.Path, h)
}

// racy is how exact the clock of a file system is, at worst.
const racy = 2 * time.Second

// header returns the header that the volume must keep. A file that has changed just now may change
// again without a trace in its time of change. So that time is not kept, because compareAttributes
// relies on it.
func (m *mirror) header(h folio.Header) folio.Header {
	if h.ChangeTime.After(m.start.Add(-racy)) {
		h.ChangeTime = time.Now()
	}
	return h
}
