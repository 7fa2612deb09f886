package mirror

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
)

// A difference says how a file in the volume differs from the one on disk.
type difference uint8

const (
	absent           difference = iota // there is none
	equal                              // a directory is judged without the files in it
	attributesDiffer                   // only attributes differ
	contentDiffers                     // content, target or device differ
	typeDiffers
)

// A fileDiff is the result of comparing one file.
type fileDiff struct {
	difference difference
	err        error  // why the file on disk cannot be compared
	ino        uint64 // in the volume
	nlink      uint32
	full       bool // the volume has a directory, not empty; known if types differ
}

// A dirDiff is the result of comparing a directory on disk with the volume.
type dirDiff struct {
	attr  difference // of the directory itself
	files []fileDiff // of each of its Files
	dirs  []string   // its directories that are directories in the volume, too
	extra []extra    // files that only the volume has
}

// HasDir implements disk.Comparison.
func (k *dirDiff) HasDir(name string) bool {
	_, ok := slices.BinarySearch(k.dirs, name)
	return ok
}

type extra struct {
	name  string
	isDir bool
}

// Scan implements disk.Differ. It is called on several goroutines.
func (m *mirror) Scan(d *disk.Dir) (disk.Comparison, error) {
	k := &dirDiff{files: make([]fileDiff, len(d.Files))}
	if m.Seen != nil {
		m.Seen(len(d.Files), 0)
	}
	if d.Err != nil || !m.inVolume(d) {
		return k, m.ctx.Err()
	}
	return k, m.v.View(m.ctx, func(rx *folio.Rx) error {
		return (&dirScan{mirror: m, rx: rx, d: d, dirDiff: k, place: m.place(d.Path)}).run()
	})
}

// inVolume reports whether a directory on disk is a directory in the volume, too. It follows no
// symbolic link there, except for a link that the command line names.
func (m *mirror) inVolume(d *disk.Dir) bool {
	if d.Up == nil {
		return m.there
	}
	return d.Up.HasDir(path.Base(d.Path))
}

// A dirScan compares one directory with a snapshot of the volume.
type dirScan struct {
	*mirror
	*dirDiff
	rx    *folio.Rx
	d     *disk.Dir
	place string
}

func (l *dirScan) run() error {
	info, err := l.rx.Stat(l.place)
	if err != nil {
		return err
	}
	if l.attr, err = l.compareDir(info); err != nil {
		return err
	}
	list, err := l.rx.ReadDir(l.place)
	if err != nil {
		return err
	}
	return l.merge(list)
}

// merge goes through the files on disk and those in the volume together.
func (l *dirScan) merge(list []fs.DirEntry) error {
	onDisk := tree.Names{Len: len(l.d.Files), At: func(i int) string { return l.d.Files[i].Name }}
	inVolume := tree.Names{Len: len(list), At: func(i int) string { return list[i].Name() }}
	return tree.Pairs(onDisk, inVolume, func(i, j int) error {
		switch {
		case j < 0:
			return nil
		case i < 0:
			return l.addExtra(list[j])
		}
		return l.compare(&l.d.Files[i], list[j], &l.files[i])
	})
}

// addExtra notes a file that only the volume has. A name that a volume cannot have must not lead a
// removal astray.
func (l *dirScan) addExtra(e fs.DirEntry) error {
	if path.Base(l.place+"/"+e.Name()) != e.Name() {
		return &fs.PathError{Op: "sync", Path: l.place + "/" + e.Name(), Err: folio.ErrDamaged}
	}
	l.extra = append(l.extra, extra{e.Name(), e.IsDir()})
	return nil
}

// compare compares a file on disk with the entry of its name (M3).
func (l *dirScan) compare(f *disk.File, e fs.DirEntry, j *fileDiff) error {
	if f.Err != nil {
		return nil
	}
	info, err := e.Info()
	if err != nil {
		return err
	}
	n := info.Sys().(*folio.Node)
	j.ino, j.nlink = uint64(n.Ino), n.Nlink
	at := l.place + "/" + e.Name()
	switch {
	case info.Mode().Type() != f.Mode().Type():
		j.difference = typeDiffers
		if info.IsDir() {
			list, err := l.rx.ReadDir(at)
			j.full = len(list) > 0
			return err
		}
	case info.IsDir():
		j.difference = equal
		l.dirs = append(l.dirs, e.Name())
	default:
		j.difference, err = l.compareFile(f, n, info.Mode(), at)
		j.err, err = ofSource(err)
	}
	return err
}

// A sourceError is about the disk.
type sourceError struct{ error }

// ofSource tells an error of the disk, which concerns one file, from one of the volume, which ends
// everything.
func ofSource(err error) (disk, volume error) {
	if e, ok := err.(*sourceError); ok {
		return e.error, nil
	}
	return nil, err
}

// compareFile compares a file that is no directory with an inode of the same type.
func (l *dirScan) compareFile(f *disk.File, n *folio.Node, mode fs.FileMode, at string) (difference, error) {
	h := f.Header()
	same, err := l.sameContent(f, &h, n, at)
	if err != nil {
		return 0, err
	}
	if !same {
		return contentDiffers, nil
	}
	return l.compareAttributes(&h, n, mode, at, f.Xattrs)
}

// compareDir compares the directory itself.
func (l *dirScan) compareDir(info fs.FileInfo) (difference, error) {
	h := l.d.Header()
	xattrs := func() (map[string][]byte, error) { return h.Xattrs, nil }
	return l.compareAttributes(&h, info.Sys().(*folio.Node), info.Mode(), l.place, xattrs)
}

// compareAttributes compares attributes. Those with names are only looked at if the time of the
// last change of the inode differs: Run gives an inode the one of the file on disk, and whatever
// changes one of them afterwards changes it, too.
func (l *dirScan) compareAttributes(
	h *folio.Header, n *folio.Node, mode fs.FileMode, at string, xattrs func() (map[string][]byte, error),
) (difference, error) {
	if h.Mode != mode || h.UID != n.UID || h.GID != n.GID || !sameTime(h.ModTime, n.Mtime) {
		return attributesDiffer, nil
	}
	if sameTime(h.ChangeTime, n.Ctime) {
		return equal, nil
	}
	theirs, err := xattrs()
	if err != nil {
		return 0, &sourceError{err}
	}
	ours, err := l.rx.Xattrs(at)
	if err != nil || maps.EqualFunc(ours, theirs, bytes.Equal) {
		return equal, err
	}
	return attributesDiffer, nil
}

// sameContent compares the content, target or device of a file, as its type requires.
func (l *dirScan) sameContent(f *disk.File, h *folio.Header, n *folio.Node, at string) (bool, error) {
	switch {
	case h.Mode&fs.ModeSymlink != 0:
		target, err := l.rx.Readlink(at)
		return target == h.Linkname, err
	case !h.Mode.IsRegular():
		return h.Rdev == n.Rdev, nil
	case f.Size() != n.Size:
		return false, nil
	case !l.Checksum:
		return sameTime(h.ModTime, n.Mtime), nil
	}
	return l.sameBytes(f, at)
}

func (l *dirScan) sameBytes(f *disk.File, at string) (bool, error) {
	file, err := l.rx.Open(at)
	if err != nil {
		return false, err
	}
	defer file.Close()
	r := &volumeReader{m: l.mirror, f: file}
	same, err := f.Equal(r)
	if err != nil && r.err == nil {
		err = &sourceError{err}
	}
	return same, err
}

// A volumeReader reads a file in a volume, until the context ends, and remembers its own error.
type volumeReader struct {
	m   *mirror
	f   *folio.File
	err error
}

func (r *volumeReader) Read(p []byte) (n int, err error) {
	if r.err = r.m.ctx.Err(); r.err != nil {
		return 0, r.err
	}
	if n, err = r.f.Read(p); err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// sameTime reports whether a volume holds t as ns.
func sameTime(t time.Time, ns int64) bool { return tree.Nanoseconds(t) == ns }
