package copier

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/volume"
	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// A copyIn is the sink of put and cp into a volume. It adds entries within one transaction, as cp
// adds them to a directory.
type copyIn struct {
	*terminal.Streams
	ctx     context.Context
	tx      *folio.Tx
	loc     location.Location // of the volume
	how     *Options
	names   tree.FirstNames      // nil if hard links are not kept
	written map[writtenFile]bool // the copies of sources that are files; nil if there is one source only

	// Of the source that is copied:
	from    string         // its volume, "" on disk
	title   string         // how the command line names it
	top     string         // the name of its entry "."
	mustDir bool           // top must be a directory
	inside  bool           // top may be a symbolic link to the directory that is meant
	within  *volume.Source // the source, if it is in the same volume
	topIno  uint64         // of the directory that "." became
	dirs    []*folio.Header
	buf     []byte
}

// A writtenFile is a file by one of its names.
type writtenFile struct {
	name string
	ino  uint64
}

// Finish gives directories their attributes.
func (d *copyIn) Finish() error {
	for i := len(d.dirs) - 1; i >= 0; i-- {
		name := path.Join(d.top, d.dirs[i].Name)
		if err := d.attributes(d.dirs[i], name); err != nil {
			return d.loc.Failure(name, err)
		}
	}
	return nil
}

// Add implements tree.Sink.
func (d *copyIn) Add(e *tree.Entry) error {
	name := path.Join(d.top, e.Name)
	there, err := d.tx.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		there, err = nil, nil
	}
	if err == nil {
		err = d.make(e, name, there)
	}
	if _, reading := errors.AsType[*tree.EntryError](err); reading || err == errNothingToDo {
		return err
	}
	if err == failure.ErrIntoItself {
		name = d.top
	}
	return d.loc.Failure(name, err)
}

// make makes a file of an entry. there is the file with its name, or nil.
func (d *copyIn) make(e *tree.Entry, name string, there fs.FileInfo) error {
	link := d.names.Link(d.from, e, d.top, name)
	switch {
	case e.Mode.IsDir():
		return d.directory(e, name, there)
	case e.Name == "." && d.mustDir && (there == nil || !there.IsDir()):
		return folio.ErrNotDirectory
	case e.Mode.IsRegular() && link == "":
		return d.file(e, name, there)
	}
	if there != nil {
		if stays, err := d.stays(e, name, there); stays || err != nil {
			return err
		}
		switch {
		case there.IsDir():
			return folio.ErrIsDirectory
		case d.justCreated(e, name, there):
			return failure.ErrJustCreated
		}
		if err := d.tx.Remove(name); err != nil {
			return err
		}
	}
	d.sayCopied(e, name)
	if link != "" {
		return d.tx.Link(link, name)
	}
	if err := d.special(e, name); err != nil {
		return err
	}
	return d.remember(e, name)
}

// remember notes that a file is the copy of a source.
func (d *copyIn) remember(e *tree.Entry, name string) error {
	if d.written == nil || e.Name != "." {
		return nil
	}
	info, err := d.tx.Stat(name)
	if e.Mode.Type() == fs.ModeSymlink {
		info, err = d.tx.Lstat(name)
	}
	if err == nil {
		d.written[writtenFile{name, location.Inode(info)}] = true
	}
	return err
}

// justCreated reports whether a file is the copy of another source, under the same name.
func (d *copyIn) justCreated(e *tree.Entry, name string, there fs.FileInfo) bool {
	return e.Name == "." && d.written[writtenFile{name, location.Inode(there)}]
}

// stays reports whether a file is left as it is: because of --no-clobber or --update, or because it
// is the symbolic link that is copied, under another name. It returns failure.ErrItself if the file
// cannot be replaced by a copy of itself.
func (d *copyIn) stays(e *tree.Entry, name string, there fs.FileInfo) (bool, error) {
	switch {
	case d.how.NoClobber:
		return true, nil
	case d.within != nil && d.within.Is(e, there):
		if there.Mode().Type() == fs.ModeSymlink && !location.SameEntry(&d.tx.Rx, d.within.At(e.Name), name) {
			return true, nil
		}
		return false, failure.ErrItself
	}
	return d.how.OnlyNewer && !there.ModTime().Before(e.ModTime), nil
}

func (d *copyIn) sayCopied(e *tree.Entry, name string) {
	if d.how.Verbose {
		d.Say(copiedLine, copyTitle(d.title, e.Name), d.loc.Display(name))
	}
}

// special makes a symbolic link, a device, a named pipe or a socket.
func (d *copyIn) special(e *tree.Entry, name string) (err error) {
	if e.Mode.Type() == fs.ModeSymlink {
		err = d.tx.Symlink(e.Linkname, name)
	} else {
		err = d.tx.Mknod(name, e.Mode.Type()|e.Mode.Perm()&^value.Umask, e.Rdev)
	}
	if err != nil || !d.how.Preserve {
		return err
	}
	return d.attributes(&e.Header, name)
}

// directory makes a directory, or copies into the one that is there. It notices a directory that is
// copied into itself by its inode: the walk would otherwise find the copy, and copy that, too.
func (d *copyIn) directory(e *tree.Entry, name string, there fs.FileInfo) error {
	if e.Name != "." && d.within != nil && e.ID.Ino == d.topIno {
		return failure.ErrIntoItself
	}
	if there != nil && e.Name == "." && d.inside {
		info, err := d.tx.Stat(name)
		if err != nil {
			return err
		}
		there = info
	}
	if there == nil {
		if err := d.mkdir(e, name); err != nil {
			return err
		}
		d.sayCopied(e, name)
	} else if !there.IsDir() {
		return folio.ErrNotDirectory
	}
	if d.how.Preserve {
		h := e.Header
		d.dirs = append(d.dirs, &h)
	}
	if e.Name != "." {
		return nil
	}
	info, err := d.tx.Stat(name)
	if err != nil {
		return err
	}
	switch d.topIno = location.Inode(info); {
	case d.within == nil || d.topIno != e.ID.Ino:
		return nil
	case d.how.NoClobber:
		d.dirs = nil
		return errNothingToDo
	}
	return failure.ErrItself
}

// errNothingToDo ends the walk of a directory that was to be copied to itself, without replacing
// anything.
var errNothingToDo = errors.New("nothing to do")

// mkdir makes a directory as cp does, with the sticky bit of the source.
func (d *copyIn) mkdir(e *tree.Entry, name string) error {
	perm := e.Mode.Perm() &^ value.Umask
	err := d.tx.Mkdir(name, perm)
	if err == nil && e.Mode&fs.ModeSticky != 0 {
		var info fs.FileInfo
		if info, err = d.tx.Stat(name); err == nil {
			err = d.tx.Chmod(name, info.Mode()|fs.ModeSticky)
		}
	}
	return err
}

// file copies a regular file. An existing file gets its content, even if name is a symbolic link to
// it.
func (d *copyIn) file(e *tree.Entry, name string, there fs.FileInfo) (err error) {
	if there != nil && there.Mode().Type() == fs.ModeSymlink {
		if there, err = d.tx.Stat(name); errors.Is(err, fs.ErrNotExist) {
			err = failure.ErrDangling
		}
		if err != nil {
			return err
		}
	}
	if there != nil {
		if stays, err := d.stays(e, name, there); stays || err != nil {
			return err
		}
	}
	d.sayCopied(e, name)
	if there != nil {
		if err := d.mayWrite(e, name, there); err != nil {
			return err
		}
		if d.how.Archive && location.Links(there) > 1 { // its other names keep the content
			if err := d.tx.Remove(name); err != nil {
				return err
			}
		}
	}
	if err := d.content(e, name, there); err != nil {
		return err
	}
	if err := d.remember(e, name); err != nil {
		return err
	}
	if d.how.Preserve {
		return d.attributes(&e.Header, name)
	}
	return nil
}

// mayWrite returns an error if an existing file must not get the content of an entry.
func (d *copyIn) mayWrite(e *tree.Entry, name string, there fs.FileInfo) error {
	switch {
	case there.IsDir():
		return folio.ErrIsDirectory
	case d.justCreated(e, name, there):
		return failure.ErrJustCreated
	case !there.Mode().IsRegular():
		return folio.ErrNotRegular
	}
	return nil
}

// smallContent is the size of contents that one call writes.
const smallContent = 64 << 10

// content writes the content of an entry. A file that is there stays the inode that it is, as with
// cp, so that its other names get the content, too; an archive copy makes another one of it when
// the content is large. Blocks of zeros in a large content become holes.
func (d *copyIn) content(e *tree.Entry, name string, there fs.FileInfo) (err error) {
	if d.ctx.Err() != nil {
		return context.Cause(d.ctx)
	}
	if done, err := d.share(e, name, there); done || err != nil {
		return err
	}
	perm := d.newMode(e)
	in := &tree.Meter{R: e.Reader()}
	if e.Size <= smallContent {
		d.buf = slices.Grow(d.buf[:0], smallContent)[:e.Size]
		if _, err := io.ReadFull(in, d.buf); err != nil && e.Size > 0 {
			return &tree.EntryError{Name: e.Name, Err: err}
		}
		return d.tx.WriteFile(name, d.buf, perm)
	}
	var size int64
	if there != nil && !d.how.Archive { // as cp does: the file keeps its inode, and the directory its times
		size, err = d.overwrite(name, in)
	} else {
		size, err = d.tx.WriteFrom(name, in, perm)
	}
	if in.Err == nil && err == nil && size != e.Size {
		in.Err = io.ErrUnexpectedEOF
	}
	if in.Err != nil {
		return &tree.EntryError{Name: e.Name, Err: in.Err}
	}
	return err
}

// newMode returns the mode of a new file.
func (d *copyIn) newMode(e *tree.Entry) fs.FileMode { return e.Mode.Perm() &^ value.Umask }

// overwrite replaces the content of a file by all that in gives.
func (d *copyIn) overwrite(name string, in io.Reader) (size int64, err error) {
	f, err := d.tx.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.ReadFrom(in)
}

// attributes gives a file the owner, the mode, the times and, of an archive copy, the extended
// attributes of an entry. An owner takes setuid away, so the mode comes after it; all of them
// change the time of the inode.
func (d *copyIn) attributes(h *folio.Header, name string) error {
	if h.Mode.Type() == fs.ModeSymlink {
		if err := d.tx.Lchown(name, int(h.UID), int(h.GID)); err != nil {
			return err
		}
		return d.tx.Lchtimes(name, h.AccessTime, h.ModTime)
	}
	if err := d.tx.Chown(name, int(h.UID), int(h.GID)); err != nil {
		return err
	}
	if err := d.tx.Chmod(name, h.Mode); err != nil {
		return err
	}
	if d.how.Archive {
		for attr, value := range h.Xattrs {
			if err := d.tx.SetXattr(name, attr, value); err != nil {
				return err
			}
		}
	}
	return d.tx.Chtimes(name, h.AccessTime, h.ModTime)
}
