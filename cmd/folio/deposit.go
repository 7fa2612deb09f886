package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/source"
)

// A deposit puts entries of sources into a volume, within one transaction, as cp puts them into a directory.
type deposit struct {
	*command
	ctx      context.Context
	tx       *folio.Tx
	loc      location // of the volume
	how      *copyOptions
	progress *progress
	names    map[sharedFile]string // of files with several, the one that each got first; nil if they are not kept
	written  map[writtenFile]bool  // what sources became which are files; nil while there is one source only

	// Of the source that is being put:
	from    string      // the volume that it lies in, "" on disk
	title   string      // how the command line names it
	top     string      // what its entry "." becomes
	mustDir bool        // that is a directory, or an error
	inside  bool        // that may be a symbolic link to the directory which is meant
	within  *volumeTree // the source, if it lies in the same volume
	topIno  uint64      // of the directory that "." became
	dirs    []*folio.Header
	failed  error // what ended the walk, if that was add
	buf     []byte
}

// A sharedFile is a file with several names, in a volume or on disk.
type sharedFile struct {
	volume string
	id     source.FileID
}

// A writtenFile is a file by one of its names.
type writtenFile struct {
	name string
	ino  uint64
}

// put puts a source at d.top. An error of reading the source is a *source.EntryError, or about the source as a whole; then
// d.failed is nil.
func (d *deposit) put(src source.Source) error {
	d.topIno, d.dirs, d.failed = 0, nil, nil
	err := src.Walk(d.ctx, func(e *source.Entry) error {
		err := d.add(e)
		if _, reading := errors.AsType[*source.EntryError](err); !reading {
			d.failed = err
		}
		return err
	})
	if err == errNothingToDo {
		d.failed, err = nil, nil
	}
	if err == nil {
		err = d.finish()
		d.failed = err
	}
	return err
}

// finish gives directories their times: after all that was put into them.
func (d *deposit) finish() error {
	for i := len(d.dirs) - 1; i >= 0; i-- {
		name := path.Join(d.top, d.dirs[i].Name)
		if err := d.attributes(d.dirs[i], name); err != nil {
			return d.loc.failure(name, err)
		}
	}
	return nil
}

// add puts one entry.
func (d *deposit) add(e *source.Entry) error {
	if d.ctx.Err() != nil {
		return context.Cause(d.ctx)
	}
	name := path.Join(d.top, e.Name)
	there, err := d.tx.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		there, err = nil, nil
	}
	if err == nil {
		err = d.make(e, name, there)
	}
	if _, reading := errors.AsType[*source.EntryError](err); reading {
		return err
	}
	switch err {
	case errNothingToDo:
		return err
	case errIntoItself:
		name = d.top
	}
	d.progress.addFile()
	return d.loc.failure(name, err)
}

// make makes a file of an entry. there is what has its name, nil if nothing has.
func (d *deposit) make(e *source.Entry, name string, there fs.FileInfo) error {
	link := d.link(e, name)
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
			return errJustCreated
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
func (d *deposit) remember(e *source.Entry, name string) error {
	if d.written == nil || e.Name != "." {
		return nil
	}
	info, err := d.tx.Stat(name)
	if e.Mode.Type() == fs.ModeSymlink {
		info, err = d.tx.Lstat(name)
	}
	if err == nil {
		d.written[writtenFile{name, inodeOf(info)}] = true
	}
	return err
}

// justCreated reports whether a file is the copy of another source, under the same name.
func (d *deposit) justCreated(e *source.Entry, name string, there fs.FileInfo) bool {
	return e.Name == "." && d.written[writtenFile{name, inodeOf(there)}]
}

// stays reports whether a file is left as it is: because of --no-clobber or --update, or because it
// is the symbolic link that is copied, under another name. It returns errItself if the file cannot
// be replaced by a copy of itself.
func (d *deposit) stays(e *source.Entry, name string, there fs.FileInfo) (bool, error) {
	switch {
	case d.how.noClobber:
		return true, nil
	case d.within != nil && d.within.is(e, there):
		if there.Mode().Type() == fs.ModeSymlink && !sameEntry(&d.tx.Rx, d.within.at(e.Name), name) {
			return true, nil
		}
		return false, errItself
	}
	return d.how.onlyNewer && !there.ModTime().Before(e.ModTime), nil
}

func (d *deposit) sayCopied(e *source.Entry, name string) {
	if d.how.verbose {
		d.say(copiedLine, copyTitle(d.title, e.Name), d.loc.display(name))
	}
}

const copiedLine = "'%s' -> '%s'"

// copyTitle names an entry of a source.
func copyTitle(source, name string) string {
	switch {
	case name == ".":
		return source
	case strings.HasSuffix(source, "/"), strings.HasSuffix(source, ":"):
		return source + name
	case volumeBefore(source+":") == source:
		return source + ":" + name
	}
	return source + "/" + name
}

// link returns the name that a file got already, or "".
func (d *deposit) link(e *source.Entry, name string) string {
	if e.Link != "" {
		return path.Join(d.top, e.Link)
	}
	if !e.Shared || d.names == nil {
		return ""
	}
	key := sharedFile{d.from, e.ID}
	first := d.names[key]
	if first == "" {
		d.names[key] = name
	}
	return first
}

// special makes what is neither a directory nor a regular file.
func (d *deposit) special(e *source.Entry, name string) (err error) {
	if e.Mode.Type() == fs.ModeSymlink {
		err = d.tx.Symlink(e.Linkname, name)
	} else {
		err = d.tx.Mknod(name, e.Mode.Type()|e.Mode.Perm()&^umask, e.Rdev)
	}
	if err != nil || !d.how.preserve {
		return err
	}
	return d.attributes(&e.Header, name)
}

func (d *deposit) directory(e *source.Entry, name string, there fs.FileInfo) error {
	if e.Name != "." && d.within != nil && e.ID.Ino == d.topIno {
		return errIntoItself
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
	if d.how.preserve {
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
	switch d.topIno = inodeOf(info); {
	case d.within == nil || d.topIno != e.ID.Ino:
		return nil
	case d.how.noClobber:
		d.dirs = nil
		return errNothingToDo
	}
	return errItself
}

// errNothingToDo ends the walk of a directory that was to be copied to itself, without replacing anything.
var errNothingToDo = errors.New("nothing to do")

// mkdir makes a directory as cp does: what POSIX calls sticky comes along.
func (d *deposit) mkdir(e *source.Entry, name string) error {
	perm := e.Mode.Perm() &^ umask
	err := d.tx.Mkdir(name, perm)
	if err == nil && e.Mode&fs.ModeSticky != 0 {
		var info fs.FileInfo
		if info, err = d.tx.Stat(name); err == nil {
			err = d.tx.Chmod(name, info.Mode()|fs.ModeSticky)
		}
	}
	return err
}

var errDangling = errors.New("is a symbolic link that leads nowhere, and nothing is written through it")

// file copies a regular file. What is there gets its content, through a symbolic link if it is one.
func (d *deposit) file(e *source.Entry, name string, there fs.FileInfo) (err error) {
	if there != nil && there.Mode().Type() == fs.ModeSymlink {
		if there, err = d.tx.Stat(name); errors.Is(err, fs.ErrNotExist) {
			err = errDangling
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
		if d.how.archive && linksOf(there) > 1 { // its other names keep what they name
			if err := d.tx.Remove(name); err != nil {
				return err
			}
		}
	}
	if err := d.content(e, name); err != nil {
		return err
	}
	if err := d.remember(e, name); err != nil {
		return err
	}
	if d.how.preserve {
		return d.attributes(&e.Header, name)
	}
	return nil
}

// mayWrite says what is wrong with giving a file that is there the content of an entry.
func (d *deposit) mayWrite(e *source.Entry, name string, there fs.FileInfo) error {
	switch {
	case there.IsDir():
		return folio.ErrIsDirectory
	case d.justCreated(e, name, there):
		return errJustCreated
	case !there.Mode().IsRegular():
		return folio.ErrNotRegular
	}
	return nil
}

// Sizes of contents: the first is written by one call, the others by pieces, of which zeros in blocks become holes.
const (
	smallContent = 64 << 10
	contentPiece = 1 << 20
	contentBlock = 64 << 10
)

var zeroBlock [contentBlock]byte

func (d *deposit) content(e *source.Entry, name string) error {
	if d.buf == nil {
		d.buf = make([]byte, contentPiece)
	}
	perm := e.Mode.Perm() &^ umask
	in := e.Content
	if in == nil {
		in = bytes.NewReader(e.Data)
	}
	if e.Size <= smallContent {
		data := d.buf[:e.Size]
		if err := d.read(e, in, data); err != nil {
			return err
		}
		return d.tx.WriteFile(name, data, perm)
	}
	f, err := d.tx.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	defer f.Close()
	for off := int64(0); off < e.Size; off += contentPiece {
		skipped, err := d.skipHole(e, in)
		if off += skipped; err != nil {
			return err
		}
		p := d.buf[:max(0, min(contentPiece, e.Size-off))]
		if err := d.read(e, in, p); err != nil {
			return err
		}
		if err := writePiece(f, p, off); err != nil {
			return err
		}
	}
	return f.Truncate(e.Size)
}

// skipHole passes over blocks of zeros, if in knows that some come next.
func (d *deposit) skipHole(e *source.Entry, in io.Reader) (int64, error) {
	s, ok := in.(folio.SparseReader)
	if !ok {
		return 0, nil
	}
	n, err := s.SkipHole(contentBlock)
	if err != nil {
		err = &source.EntryError{Name: e.Name, Err: err}
	}
	d.progress.addBytes(n)
	return n, err
}

// read fills p with what comes next.
func (d *deposit) read(e *source.Entry, in io.Reader, p []byte) error {
	if d.ctx.Err() != nil {
		return context.Cause(d.ctx)
	}
	if _, err := io.ReadFull(in, p); err != nil && len(p) > 0 {
		return &source.EntryError{Name: e.Name, Err: err}
	}
	d.progress.addBytes(int64(len(p)))
	return nil
}

// writePiece writes p, but for blocks of zeros, which the file reads anyway where nothing was written.
func writePiece(f *folio.File, p []byte, off int64) error {
	for len(p) > 0 {
		n := 0 // bytes up to a block of zeros
		for n < len(p) && !bytes.Equal(p[n:min(n+contentBlock, len(p))], zeroBlock[:min(contentBlock, len(p)-n)]) {
			n = min(n+contentBlock, len(p))
		}
		if _, err := f.WriteAt(p[:n], off); err != nil {
			return err
		}
		n = min(n+contentBlock, len(p))
		p, off = p[n:], off+int64(n)
	}
	return nil
}

// attributes gives a file the owner, the mode, the times and, of an archive copy, the extended attributes of an entry. An
// owner takes setuid away, so the mode comes after it; all of them change the time of the inode.
func (d *deposit) attributes(h *folio.Header, name string) error {
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
	if d.how.archive {
		for attr, value := range h.Xattrs {
			if err := d.tx.SetXattr(name, attr, value); err != nil {
				return err
			}
		}
	}
	return d.tx.Chtimes(name, h.AccessTime, h.ModTime)
}
