package mirror

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/compare"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
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

// An extra is a file that the volume has and the source does not.
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
	j.ino, j.nlink = n.Ino, n.Nlink
	switch {
	case info.Mode().Type() != f.Mode().Type():
		j.difference = typeDiffers
		if info.IsDir() {
			list, err := l.rx.ReadDir(l.place + "/" + e.Name())
			j.full = len(list) > 0
			return err
		}
	case info.IsDir():
		j.difference = equal
		l.dirs = append(l.dirs, e.Name())
	case !l.Checksum && untouched(f, info, n):
		j.difference = equal
	default:
		return l.compareFile(f, info, l.place+"/"+e.Name(), j)
	}
	return nil
}

// untouched reports whether a regular file is as the last sync has left it, in the volume and on
// disk. A Comparer would find the same. But most files of most syncs are untouched, and to describe
// them for a Comparer took a quarter of the time of a sync.
func untouched(f *disk.File, info fs.FileInfo, n *folio.Node) bool {
	h := f.Header()
	return h.Mode.IsRegular() && h.Mode == info.Mode() && f.Size() == n.Size && h.UID == n.UID && h.GID == n.GID &&
		tree.Nanoseconds(h.ModTime) == n.Mtime && tree.Nanoseconds(h.ChangeTime) == n.Ctime
}

// compareFile compares a file that is no directory with the file of its type at a path in the
// volume.
func (l *dirScan) compareFile(f *disk.File, info fs.FileInfo, at string, j *fileDiff) error {
	there, err := listing.OfInfo(l.rx, at, info)
	if err != nil {
		return err
	}
	a := compare.OnDisk(f)
	j.difference, err = l.difference(a, compare.InVolume(l.rx, there))
	if e, ok := errors.AsType[*compare.ReadError](err); ok && e.File == a { // it concerns one file
		j.err, err = e.Err, nil
	}
	return err
}

// compareDir compares the directory itself.
func (l *dirScan) compareDir(info fs.FileInfo) (difference, error) {
	there, err := listing.OfInfo(l.rx, l.place, info)
	if err != nil {
		return 0, err
	}
	return l.difference(&compare.File{Entry: tree.Entry{Header: l.d.Header()}}, compare.InVolume(l.rx, there))
}

// difference compares two files of one type. Run gives each inode the time of change of the file on
// disk, and whatever changes one of them afterwards sets another time: as long as both are the
// same, extended attributes need not be read.
func (l *dirScan) difference(onDisk, inVolume *compare.File) (difference, error) {
	c := &compare.Comparer{Ctx: l.ctx, Attributes: compare.All, ByTime: !l.Checksum, ByChangeTime: true}
	kind, _, err := c.Compare(onDisk, inVolume)
	switch {
	case kind&compare.Modified != 0:
		return contentDiffers, err
	case kind != 0:
		return attributesDiffer, err
	}
	return equal, err
}
