package disk

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// blockSize is the size of the blocks of zeros that are left out of files with holes.
const blockSize = 4096

var zeros [blockSize]byte

// file calls fn to make a regular file. If the name is taken, fn makes the file under a temporary
// name, and it is renamed when it is complete. So no reader sees a part of it.
func (w *Writer) file(d *outDir, name string, attr *tree.Entry, fn func(name string, attr *tree.Entry) error) error {
	err := fn(name, attr)
	switch {
	case !errors.Is(err, fs.ErrExist):
		return err
	case w.o.Skip:
		return nil
	case !w.o.Replace:
		return err
	}
	there, err := d.root.Lstat(name)
	switch {
	case err != nil:
		return err
	case there.IsDir():
		return errInTheWay
	case w.o.Keep && there.Mode().IsRegular():
		kept := *attr
		kept.Mode = there.Mode()
		attr = &kept
	}
	temp := ".folio-" + strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
	if err := fn(temp, attr); err != nil {
		return err
	}
	if err := d.root.Rename(temp, name); err != nil {
		return errors.Join(err, d.root.Remove(temp))
	}
	return nil
}

// large writes a content that is not held in memory.
func (w *Writer) large(d *outDir, name, shown string, attr *tree.Entry, content io.ReaderAt) error {
	f, err := d.create(name)
	if err != nil {
		return err
	}
	pw := &writeBehind{pieces: &w.pieces, writeAt: func(p []byte, off int64) error { return writeAt(f, p, off, attr) }}
	err = w.copyRanges(pw, attr, content)
	if last := pw.wait(); err == nil {
		err = last
	}
	return w.finishFile(d, f, name, shown, attr, err)
}

// writeAt writes p. If there are to be holes, it leaves out blocks of zeros.
func writeAt(f *os.File, p []byte, off int64, attr *tree.Entry) error {
	if !attr.Holes {
		if len(p) == 0 {
			return nil
		}
		_, err := f.WriteAt(p, off)
		return err
	}
	for len(p) > 0 {
		n := min(blockSize, len(p))
		if !bytes.Equal(p[:n], zeros[:n]) {
			if _, err := f.WriteAt(p[:n], off); err != nil {
				return err
			}
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}

// setXattrs sets the extended attributes of an open file, with a path in the tree.
func (w *Writer) setXattrs(f *os.File, shown string, attrs map[string][]byte) error {
	for _, attr := range slices.Sorted(maps.Keys(attrs)) {
		switch err := SetXattr(f, attr, attrs[attr]); {
		case err == nil:
		case w.o.Refused == nil:
			return err
		default:
			w.o.Refused(w.shown(shown), attr, err)
		}
	}
	return nil
}

// finishFile closes a file that was written and gives it its attributes, or removes it if it was
// written with an error. Setting an owner takes away setuid, so the mode comes last.
// Warnings have the path shown, as the name may be temporary.
func (w *Writer) finishFile(d *outDir, f *os.File, name, shown string, attr *tree.Entry, err error) error {
	if err == nil && attr.Holes {
		err = f.Truncate(attr.Size)
	}
	if err == nil && w.o.Owner {
		err = f.Chown(int(attr.UID), int(attr.GID))
	}
	if err == nil {
		err = w.setXattrs(f, shown, attr.Xattrs)
	}
	if err == nil {
		err = d.setTimes(name, attr)
	}
	if err == nil {
		err = f.Chmod(w.mode(attr))
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = d.root.Remove(name) // a part of a file is none
	}
	return err
}
