package mirror

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"time"

	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"

	"github.com/foliofs/folio"
)

// A verdict says how a file in the volume differs from the one on disk.
type verdict uint8

const (
	absent  verdict = iota // there is none
	alike                  // a directory is judged without the files in it
	inAttr                 // only attributes differ
	inBytes                // content, target or device differ
	inType
)

// A judgement is the result of comparing one file.
type judgement struct {
	verdict verdict
	err     error  // why the file on disk cannot be compared
	ino     uint64 // in the volume
	nlink   uint32
	full    bool // the volume has a directory, not empty; known if types differ
}

// A known is the result of comparing a directory on disk with the volume.
type known struct {
	attr  verdict     // of the directory itself
	files []judgement // of each of its Files
	dirs  []string    // of its directories those that are one in the volume, too
	extra []extra     // files that only the volume has
}

type extra struct {
	name  string
	isDir bool
}

// Look implements disk.Differ. It is called on several goroutines.
func (m *mirror) Look(d *disk.Dir) error {
	k := &known{files: make([]judgement, len(d.Files))}
	d.Known = k
	if m.Seen != nil {
		m.Seen(len(d.Files), 0)
	}
	if d.Err != nil || !m.inVolume(d) {
		return m.ctx.Err()
	}
	return m.v.View(m.ctx, func(rx *folio.Rx) error {
		return (&look{mirror: m, rx: rx, d: d, known: k, place: m.place(d.Path)}).run()
	})
}

// inVolume reports whether a directory on disk is a directory in the volume, too. It follows no
// symbolic link there, except for a link that the command line names.
func (m *mirror) inVolume(d *disk.Dir) bool {
	if d.Up == nil {
		return m.there
	}
	_, ok := slices.BinarySearch(d.Up.Known.(*known).dirs, path.Base(d.Path))
	return ok
}

// A look compares one directory with a snapshot of the volume.
type look struct {
	*mirror
	*known
	rx    *folio.Rx
	d     *disk.Dir
	place string
}

func (l *look) run() error {
	info, err := l.rx.Stat(l.place)
	if err != nil {
		return err
	}
	if l.attr, err = l.judgeDir(info); err != nil {
		return err
	}
	list, err := l.rx.ReadDir(l.place)
	if err != nil {
		return err
	}
	return l.merge(list)
}

// merge goes through the files on disk and those in the volume together. Both are sorted.
func (l *look) merge(list []fs.DirEntry) error {
	i := 0
	for _, e := range list {
		for i < len(l.d.Files) && l.d.Files[i].Name < e.Name() {
			i++
		}
		var err error
		if i < len(l.d.Files) && l.d.Files[i].Name == e.Name() {
			err = l.judge(&l.d.Files[i], e, &l.files[i])
		} else {
			err = l.addExtra(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addExtra notes a file that only the volume has. A name that a volume cannot have must not lead a
// removal astray.
func (l *look) addExtra(e fs.DirEntry) error {
	if path.Base(l.place+"/"+e.Name()) != e.Name() {
		return &fs.PathError{Op: "sync", Path: l.place + "/" + e.Name(), Err: folio.ErrDamaged}
	}
	l.extra = append(l.extra, extra{e.Name(), e.IsDir()})
	return nil
}

// judge compares a file on disk with the entry of its name (M3).
func (l *look) judge(f *disk.File, e fs.DirEntry, j *judgement) error {
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
		j.verdict = inType
		if info.IsDir() {
			list, err := l.rx.ReadDir(at)
			j.full = len(list) > 0
			return err
		}
	case info.IsDir():
		j.verdict = alike
		l.dirs = append(l.dirs, e.Name())
	default:
		j.verdict, err = l.judgeFile(f, n, info.Mode(), at)
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

// judgeFile compares a file that is no directory with an inode of the same type.
func (l *look) judgeFile(f *disk.File, n *folio.Node, mode fs.FileMode, at string) (verdict, error) {
	h := f.Header()
	same, err := l.sameContent(f, &h, n, at)
	if err != nil {
		return 0, err
	}
	if !same {
		return inBytes, nil
	}
	return l.judgeAttr(&h, n, mode, at, f.Xattrs)
}

// judgeDir compares the directory itself.
func (l *look) judgeDir(info fs.FileInfo) (verdict, error) {
	h := l.d.Header()
	xattrs := func() (map[string][]byte, error) { return h.Xattrs, nil }
	return l.judgeAttr(&h, info.Sys().(*folio.Node), info.Mode(), l.place, xattrs)
}

// judgeAttr compares attributes. Those with names are only looked at if the time of the last change
// of the inode differs: Run gives an inode the one of the file on disk, and whatever changes one of
// them afterwards changes it, too.
func (l *look) judgeAttr(
	h *folio.Header, n *folio.Node, mode fs.FileMode, at string, xattrs func() (map[string][]byte, error),
) (verdict, error) {
	if h.Mode != mode || h.UID != n.UID || h.GID != n.GID || !sameTime(h.ModTime, n.Mtime) {
		return inAttr, nil
	}
	if sameTime(h.ChangeTime, n.Ctime) {
		return alike, nil
	}
	theirs, err := xattrs()
	if err != nil {
		return 0, &sourceError{err}
	}
	ours, err := l.rx.Xattrs(at)
	if err != nil || maps.EqualFunc(ours, theirs, bytes.Equal) {
		return alike, err
	}
	return inAttr, nil
}

// sameContent compares the content, target or device of a file, as its type requires.
func (l *look) sameContent(f *disk.File, h *folio.Header, n *folio.Node, at string) (bool, error) {
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

func (l *look) sameBytes(f *disk.File, at string) (bool, error) {
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

// sameTime reports whether a volume holds t as ns. It holds the nearest time to one out of its
// range.
func sameTime(t time.Time, ns int64) bool {
	switch c := t.Compare(time.Unix(0, ns)); ns {
	case math.MaxInt64:
		return c >= 0
	case math.MinInt64:
		return c <= 0
	default:
		return c == 0
	}
}
