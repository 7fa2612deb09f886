package compare

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"maps"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// A Comparer says how two files of one type differ. diff and sync compare by one.
type Comparer struct {
	Ctx        context.Context
	Attributes Attributes // that are compared
	// ByTime takes two regular files of one size and one time of the last change for equal, and
	// does not read them. Files of one size and two times differ then.
	ByTime bool
	// ByChangeTime takes extended attributes for equal if all other attributes are, and the time
	// of the last change of the inode, which each change of an attribute sets.
	ByChangeTime bool
	// OfUsers compares only the extended attributes user.*, of regular files and directories: all
	// that a tree on disk shares with a volume, also if another user has imported it.
	OfUsers bool
	// Ahead lets another goroutine read the second file.
	Ahead bool
	// Read counts bytes of contents; nil if they do not count.
	Read func(bytes int64)
}

// Compare returns how b differs from a: whether its content is Modified, whether it is Described by
// other attributes, and which. If one of the two cannot be read, the error is a *ReadError.
func (c *Comparer) Compare(a, b *File) (kind Kind, attributes Attributes, err error) {
	same, err := c.sameContent(a, b)
	if err != nil {
		return 0, 0, err
	}
	if !same {
		kind |= Modified
	}
	if attributes, err = c.attributes(a, b); attributes != 0 {
		kind |= Described
	}
	return kind, attributes, err
}

// sameContent compares content, target or device number, as the type requires.
func (c *Comparer) sameContent(a, b *File) (bool, error) {
	switch {
	case a.Mode.IsRegular() && a.Size != b.Size:
		return false, nil
	case a.Mode.IsRegular() && c.ByTime:
		return tree.SameTime(a.ModTime, b.ModTime), nil
	case a.Mode.IsRegular():
		return c.sameBytes(a, b)
	case a.Mode&fs.ModeSymlink != 0:
		return a.Linkname == b.Linkname, nil
	case a.Mode&fs.ModeDevice != 0:
		return a.Rdev == b.Rdev, nil
	}
	return true, nil
}

// aheadSize is the size of the smallest file that is worth another goroutine.
const aheadSize = 16 << 10

// sameBytes compares two contents. On an error it says which of the files could not be read.
func (c *Comparer) sameBytes(a, b *File) (bool, error) {
	x, err := a.Open()
	if err != nil {
		return false, &ReadError{a, err}
	}
	defer x.Close()
	y, err := b.Open()
	if err != nil {
		return false, &ReadError{b, err}
	}
	defer y.Close()
	second := io.Reader(y)
	if c.Ahead && b.Size >= aheadSize {
		ahead, stop := tree.ReadAhead(c.Ctx, y, b.Size)
		defer stop()
		second = ahead
	}
	first := &tree.Meter{Ctx: c.Ctx, R: x, Count: c.Read}
	same, err := tree.EqualContents(first, second)
	switch {
	case err == nil:
		return same, nil
	case first.Err != nil:
		return false, &ReadError{a, first.Err}
	case c.Ctx.Err() != nil:
		return false, context.Cause(c.Ctx)
	}
	return false, &ReadError{b, err}
}

// attributes returns the attributes that differ, of those that count. It reads extended attributes
// last, because only they need the file to be opened.
func (c *Comparer) attributes(a, b *File) (list Attributes, err error) {
	if a.Mode&fs.ModeSymlink == 0 && a.Mode != b.Mode {
		list |= Mode
	}
	if a.UID != b.UID || a.GID != b.GID {
		list |= Owner
	}
	if !tree.SameTime(a.ModTime, b.ModTime) {
		list |= Times
	}
	if list &= c.Attributes; c.Attributes&Xattrs == 0 || c.ByChangeTime && (list != 0 || tree.SameTime(a.ChangeTime, b.ChangeTime)) {
		return list, nil
	}
	same, err := c.sameXattrs(a, b)
	if err == nil && !same {
		list |= Xattrs
	}
	return list, err
}

// sameXattrs compares extended attributes, if OfUsers is set only those that every user can set.
func (c *Comparer) sameXattrs(a, b *File) (bool, error) {
	if c.OfUsers && !a.Mode.IsRegular() && !a.Mode.IsDir() {
		return true, nil
	}
	x, err := a.xattrs()
	if err != nil {
		return false, &ReadError{a, err}
	}
	y, err := b.xattrs()
	if err != nil {
		return false, &ReadError{b, err}
	}
	if c.OfUsers {
		ofSystem := func(name string, _ []byte) bool { return !strings.HasPrefix(name, "user.") }
		maps.DeleteFunc(x, ofSystem)
		maps.DeleteFunc(y, ofSystem)
	}
	return maps.EqualFunc(x, y, bytes.Equal), nil
}
