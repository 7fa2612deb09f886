package source

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/inoset"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/sqlitefile"
)

// An agentProducer goes through the tree of an AgentFS database from its root, in the order of the
// names.
type agentProducer struct {
	*pipeline
	agentTables
	dirs    inoset.Set       // that were entered
	several inoset.Set       // inodes with several names
	first   map[int64]*place // the first names of these
	paths   joiner
	all     int64 // names in the database
	found   int64 // of these, from the root on
}

// An agentChild is a name in a directory.
type agentChild struct {
	name string
	ino  int64
}

func (a *agentProducer) walk() error {
	if err := a.countNames(); err != nil {
		return err
	}
	a.dirs.Add(agentRoot)
	e, err := a.entry(".", agentRoot)
	if err == nil && !e.Mode.IsDir() {
		err = fmt.Errorf("%w: the root is no directory", ErrDamaged)
	}
	if err == nil {
		err = a.add(e, nil)
	}
	if err != nil {
		return WrapEntry(".", err)
	}
	if err := a.dir(&place{}, agentRoot); err != nil {
		return err
	}
	if a.found != a.all {
		return fmt.Errorf("%w: %d of %d names lie in no directory below the root", ErrDamaged, a.all-a.found, a.all)
	}
	return nil
}

// countNames finds out which inodes have several names.
func (a *agentProducer) countNames() error {
	var seen inoset.Set
	for row, err := range a.names.All() {
		if err != nil {
			return err
		}
		if err := short(&row, a.nameName, a.nameIno); err != nil {
			return err
		}
		ino, err := row.Int64(a.nameIno)
		if err != nil {
			return err
		}
		if a.all++; !seen.Add(uint64(ino)) {
			a.several.Add(uint64(ino))
		}
	}
	return nil
}

// dir adds what is in a directory.
func (a *agentProducer) dir(at *place, ino int64) error {
	children, err := a.children(ino)
	if err != nil {
		return WrapEntry(at.path(), err)
	}
	for _, c := range children {
		if err := a.child(at, c); err != nil {
			return at.wrap(c.name, err)
		}
	}
	return nil
}

func (a *agentProducer) children(dir int64) (list []agentChild, err error) {
	for key, err := range a.namesByDir.Prefix(dir) {
		if err != nil {
			return nil, err
		}
		row, ok, err := a.names.Get(key.Rowid())
		if err == nil && !ok {
			err = ErrDamaged
		}
		if err != nil {
			return nil, err
		}
		var c agentChild
		if c.name, err = row.Text(a.nameName); err == nil {
			c.ino, err = row.Int64(a.nameIno)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func (a *agentProducer) child(dir *place, c agentChild) error {
	a.found++
	if err := checkElement(dir, c.name); err != nil {
		return err
	}
	path := a.paths.join(dir, c.name)
	e, err := a.entry(path, c.ino)
	if err != nil {
		return err
	}
	if e.Mode.IsDir() {
		if !a.dirs.Add(uint64(c.ino)) {
			return ErrTwoNames
		}
		if err := a.add(e, nil); err != nil {
			return err
		}
		return a.dir(dir.below(c.name), c.ino)
	}
	if a.several.Has(uint64(c.ino)) {
		if first, ok := a.first[c.ino]; ok {
			return a.add(&Entry{Header: header(path), Link: first.path()}, nil)
		}
		a.first[c.ino] = dir.below(c.name)
	}
	return a.file(e, c.ino)
}

// entry returns an entry without its content.
func (a *agentProducer) entry(path string, ino int64) (*Entry, error) {
	row, ok, err := a.inodes.Get(ino)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrNoInode
	}
	in, e := agentInode{row: &row}, &Entry{Header: header(path)}
	e.Mode = posix.FileMode(uint32(in.number(a.inode.mode, 1<<16, ErrType)))
	if e.Mode.Type() == fs.ModeIrregular {
		return nil, cmp.Or(in.err, ErrType)
	}
	e.UID = uint32(in.number(a.inode.uid, 1<<32, ErrOwner))
	e.GID = uint32(in.number(a.inode.gid, 1<<32, ErrOwner))
	if e.Mode.IsRegular() {
		e.Size = in.number(a.inode.size, maxArchivable, folio.ErrTooLarge)
	}
	if e.Mode.Type()&fs.ModeDevice != 0 {
		e.Rdev = uint64(in.number(a.inode.rdev, math.MaxInt64, ErrType))
	}
	for i, t := range []*time.Time{&e.AccessTime, &e.ModTime, &e.ChangeTime} {
		*t = in.time(a.inode.seconds[i], a.inode.nanoseconds[i])
	}
	if e.Mode.Type() == fs.ModeSymlink && in.err == nil {
		e.Linkname, in.err = a.target(ino)
	}
	return e, in.err
}

// target returns the target of a symbolic link.
func (a *agentProducer) target(ino int64) (string, error) {
	row, ok, err := a.symlinks.Get(ino)
	if err == nil && !ok {
		err = fmt.Errorf("%w: a symbolic link without a target", ErrDamaged)
	}
	if err != nil {
		return "", err
	}
	if size, err := row.Size(a.linkTarget); err != nil || size > maxTarget {
		return "", cmp.Or(err, ErrTarget)
	}
	return row.Text(a.linkTarget)
}

// An agentInode reads columns of a row of fs_inode. It remembers its first error.
type agentInode struct {
	row *sqlitefile.Row
	err error
}

// number returns a column, 0 if there is none. One that is negative or not below the limit is the
// error beyond.
func (in *agentInode) number(column int, limit int64, beyond error) int64 {
	if column < 0 || in.err != nil {
		return 0
	}
	n, err := in.int64(column)
	if err == nil && (n < 0 || n >= limit) {
		err = beyond
	}
	in.err = err
	return n
}

func (in *agentInode) int64(column int) (int64, error) {
	if err := short(in.row, column); err != nil {
		return 0, err
	}
	return in.row.Int64(column)
}

// maxSeconds is beyond all times that a volume can hold.
const maxSeconds = 1 << 36

func (in *agentInode) time(seconds, nanoseconds int) time.Time {
	ns := in.number(nanoseconds, int64(time.Second), fmt.Errorf("%w: a time has a second or more of nanoseconds", ErrDamaged))
	if in.err != nil {
		return time.Time{}
	}
	s, err := in.int64(seconds)
	in.err = err
	return time.Unix(min(max(s, -maxSeconds), maxSeconds), ns)
}
