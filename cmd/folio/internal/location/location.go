// Package location reads VOLUME[@SNAPSHOT][:PATH], opens the named volume, and names it in errors.
//
// A Location is a file in a volume, as it is or as it was when a snapshot was made. An Operand also
// knows how the command line spelled it. Views
// and transactions of a command begin here.
package location

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/archive"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
	"github.com/foliofs/folio/sqlitefile"
)

// A Location is a file in a volume, as the command line names it: VOLUME[@SNAPSHOT][:PATH].
type Location struct {
	Volume   string // path of the volume's file
	Snapshot string // "" for the volume as it is
	Path     string // of the file in it; "." for the root

	address string // of a volume on a server, if it has a password that Volume leaves out
}

// Root is the root of a volume in a file.
func Root(volume string) Location { return Location{Volume: volume, Path: "."} }

// Whole is the root of the volume as it is.
func (l Location) Whole() Location { return Location{Volume: l.Volume, Path: ".", address: l.address} }

// Parse reads a location. The volume is the longest beginning that names something that exists, and
// that the end, a colon, or an @ and the name of a snapshot follow. Before an @ it must be a
// regular file. If there is none, it is the text before the first colon. A volume on a server is an
// address, up to the first colon behind the name of the server.
func Parse(arg string) Location {
	if OnServer(arg) {
		return parseServer(arg)
	}
	for end := len(arg); end > 0; end = strings.LastIndexAny(arg[:end], ":@") {
		if l, ok := split(arg, end); ok && (Exists(l.Volume) && l.Snapshot == "" || isRegular(l.Volume)) {
			return l
		}
	}
	drive := len(filepath.VolumeName(arg)) // of Windows, with its colon
	volume, rest, _ := strings.Cut(arg[drive:], ":")
	return Location{Volume: arg[:drive] + volume, Path: Clean(rest)}
}

// split reads a location whose volume ends at a place. It reports whether the rest can follow a
// volume.
func split(arg string, end int) (l Location, ok bool) {
	l = Root(arg[:end])
	switch rest := arg[end:]; {
	case rest == "":
	case rest[0] == ':':
		l.Path = Clean(rest[1:])
	default:
		name, path, _ := strings.Cut(rest[1:], ":")
		l.Snapshot, l.Path = name, Clean(path)
		return l, name != "" && !strings.ContainsAny(name, "@/")
	}
	return l, true
}

// isRegular reports whether a name on disk belongs to a regular file.
func isRegular(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// Exists reports whether a name on disk is taken. The address of a volume on a server counts as
// taken.
func Exists(name string) bool {
	if OnServer(name) {
		return true
	}
	_, err := os.Stat(name)
	return err == nil
}

// Clean cleans a path in a volume. A leading slash means the root, which it starts from anyway.
func Clean(p string) string {
	p = strings.TrimPrefix(path.Clean("/"+p), "/")
	if p == "" {
		return "."
	}
	return p
}

func (l Location) String() string { return l.Display(l.Path) }

// Display is how a path in the volume is shown.
func (l Location) Display(p string) string {
	if p == "." {
		return l.Tree()
	}
	return l.Tree() + ":" + p
}

// Live is how a path is shown in the volume as it is.
func (l Location) Live(p string) string { return Location{Volume: l.Volume, Path: p}.String() }

// Tree names the volume, or the snapshot of it: VOLUME[@SNAPSHOT].
func (l Location) Tree() string {
	if l.Snapshot == "" {
		return l.Volume
	}
	return l.Volume + "@" + l.Snapshot
}

// An Opened is a volume that a Location names. If it names a snapshot, it is the volume as that
// snapshot has it.
type Opened struct {
	*folio.Volume
	whole *folio.Volume // that the snapshot belongs to; nil if Volume is no snapshot
}

// Close closes the volume.
func (o *Opened) Close() error {
	err := o.Volume.Close()
	if o.whole != nil {
		err = errors.Join(err, o.whole.Close())
	}
	return err
}

// Open opens the volume, or the snapshot.
func (l Location) Open() (*Opened, error) { return l.OpenWith(nil) }

// OpenWith opens the volume, or the snapshot, with options.
func (l Location) OpenWith(o *folio.Options) (*Opened, error) {
	if l.Snapshot != "" {
		if err := HasSnapshots(l.Volume); err != nil {
			return nil, err
		}
	}
	v, err := l.OpenVolume(o)
	if errors.Is(err, fs.ErrNotExist) && !OnServer(l.Volume) {
		err = failure.ErrNoVolume
	}
	if err != nil {
		return nil, l.openFailure(err)
	}
	if l.Snapshot == "" {
		return &Opened{Volume: v}, nil
	}
	at, err := v.OpenSnapshot(context.Background(), l.Snapshot)
	if err != nil {
		_ = v.Close()
		return nil, l.snapshotFailure(err)
	}
	return &Opened{at, v}, nil
}

// Snapshots returns the snapshots of the volume, the oldest first.
func (l Location) Snapshots() ([]folio.Snapshot, error) {
	if err := HasSnapshots(l.Volume); err != nil {
		return nil, err
	}
	v, err := l.Whole().Open()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	list, err := v.Snapshots(context.Background())
	return list, failure.At(l.Volume, err)
}

// snapshotFailure names the snapshot in an error of opening it.
func (l Location) snapshotFailure(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return &fs.PathError{Path: l.Tree(), Err: err}
}

// CheckWritable refuses a snapshot if a command would change it.
func (l Location) CheckWritable() error {
	if l.Snapshot == "" {
		return nil
	}
	if err := HasSnapshots(l.Volume); err != nil {
		return err
	}
	return failure.At(l.Tree(), failure.ErrSnapshot)
}

// openFailure names the volume in an error of opening it.
func (l Location) openFailure(err error) error {
	e, ok := errors.AsType[*fs.PathError](err)
	if ok && (strings.HasSuffix(e.Path, "-wal") || strings.HasSuffix(e.Path, "-shm")) {
		return failure.Hint(err, "the files next to a volume in use must be readable, as the volume is")
	}
	return failure.At(l.Volume, err)
}

// View calls fn with a snapshot of the volume. Errors about a path in it come out with the volume's
// name.
func (l Location) View(ctx context.Context, fn func(rx *folio.Rx) error) error {
	v, err := l.Open()
	if err != nil {
		return err
	}
	defer v.Close()
	return v.View(ctx, fn)
}

// Failure names a path in the volume in an error.
func (l Location) Failure(p string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		if e.Path == l.Volume {
			return err
		}
		if errors.Is(err, folio.ErrNoSnapshot) { // it was removed a moment ago
			return l.snapshotFailure(err)
		}
		err = e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return &fs.PathError{Path: l.Display(p), Err: err}
}

// IsVolume reports whether a file on disk looks like a volume, or the name is the address of one.
func IsVolume(name string) bool {
	if OnServer(name) {
		return parseServer(name).Path == "."
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [archive.HeadSize]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && archive.IsVolume(head[:])
}

// EntryFailure names the file in an error of an entry of the tree at l.
func (l Location) EntryFailure(e *tree.EntryError) error {
	name := path.Join(l.Path, e.Name)
	if errors.Is(e.Err, tree.ErrName) {
		name = l.Path + "/" + e.Name // as it is, and not where it would lead
	}
	return l.Failure(name, e.Err)
}

// SameFile reports whether two names on disk are of one file.
func SameFile(a, b string) bool {
	if a == b {
		return true
	}
	inA, errA := os.Stat(a)
	inB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(inA, inB)
}

// SkipVolume returns the files to pass over if a volume is within a source: the volume, the side
// files of a database and, if the volume is about to be made, its temporary file, which does not
// exist yet. Temporary files that are there already are files like any other.
func SkipVolume(volume string, isNew bool) (func(tree.FileID, string) bool, error) {
	if OnServer(volume) {
		return func(tree.FileID, string) bool { return false }, nil
	}
	if real, err := filepath.EvalSymlinks(volume); err == nil {
		volume = real
	}
	dir, err := disk.ParentID(volume)
	if err != nil {
		return nil, err
	}
	before := map[string]bool{}
	if isNew {
		list, _ := os.ReadDir(filepath.Dir(volume)) // a directory that cannot be listed cannot be a source either
		for _, d := range list {
			before[d.Name()] = true
		}
	}
	base := filepath.Base(volume)
	return func(in tree.FileID, name string) bool {
		if in != dir {
			return false
		}
		rest, ok := strings.CutPrefix(name, base)
		side := ok && (rest == "" || rest == "-wal" || rest == "-shm" || rest == "-journal")
		return side || isNew && sqlitefile.IsTemporary(name) && !before[name]
	}, nil
}
