// Package location reads VOLUME[:PATH], opens what it names, and names it in errors.
//
// A Location is a file in a volume. An Operand also knows how the command line spelled it. Views
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
	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/cmd/folio/internal/target"
)

// A Location is a file in a volume, as the command line names it: VOLUME[:PATH].
type Location struct {
	Volume string // path of the volume's file
	Path   string // of the file in it; "." for the root
}

// Root is the root of a volume.
func Root(volume string) Location { return Location{volume, "."} }

// Parse reads a location. The volume is the longest beginning, before a colon or the end, that
// names something that exists. If there is none, it is the text before the first colon.
func Parse(arg string) Location {
	if Exists(arg) {
		return Root(arg)
	}
	for end := strings.LastIndexByte(arg, ':'); end > 0; end = strings.LastIndexByte(arg[:end], ':') {
		if Exists(arg[:end]) {
			return Location{arg[:end], Clean(arg[end+1:])}
		}
	}
	drive := len(filepath.VolumeName(arg)) // of Windows, with its colon
	volume, rest, _ := strings.Cut(arg[drive:], ":")
	return Location{arg[:drive] + volume, Clean(rest)}
}

// Exists reports whether a name on disk is taken.
func Exists(name string) bool {
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
		return l.Volume
	}
	return l.Volume + ":" + p
}

// Open opens the volume.
func (l Location) Open() (*folio.Volume, error) {
	v, err := folio.Open(l.Volume, nil)
	if errors.Is(err, fs.ErrNotExist) {
		err = failure.ErrNoVolume
	}
	return v, l.openFailure(err)
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
		err = e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return &fs.PathError{Path: l.Display(p), Err: err}
}

// IsVolume reports whether a file on disk looks like a volume.
func IsVolume(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [source.HeadSize]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && source.IsVolume(head[:])
}

// EntryFailure names the file in an error of an entry of the tree at l.
func (l Location) EntryFailure(e *source.EntryError) error {
	name := path.Join(l.Path, e.Name)
	if errors.Is(e.Err, target.ErrName) {
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

// SkipVolume returns the files to pass over if an existing volume lies within a source: the volume,
// and the side files of a database.
func SkipVolume(volume string) (func(source.FileID, string) bool, error) {
	if real, err := filepath.EvalSymlinks(volume); err == nil {
		volume = real
	}
	dir, err := source.ParentID(volume)
	if err != nil {
		return nil, err
	}
	base := filepath.Base(volume)
	return func(in source.FileID, name string) bool {
		if in != dir {
			return false
		}
		rest, ok := strings.CutPrefix(name, base)
		return ok && (rest == "" || rest == "-wal" || rest == "-shm" || rest == "-journal")
	}, nil
}
