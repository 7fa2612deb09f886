package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/foliofs/folio"
)

// A location is a file in a volume, as the command line names it: VOLUME[:PATH].
type location struct {
	volume string // path of the volume's file
	path   string // of the file in it; "." for the root
}

// locate reads a location. The volume is the longest beginning, before a colon or the end, that names something that
// exists; where nothing does, what stands before the first colon.
func locate(arg string) location {
	if exists(arg) {
		return location{arg, "."}
	}
	for end := strings.LastIndexByte(arg, ':'); end > 0; end = strings.LastIndexByte(arg[:end], ':') {
		if exists(arg[:end]) {
			return location{arg[:end], inVolume(arg[end+1:])}
		}
	}
	drive := len(filepath.VolumeName(arg)) // of Windows, with its colon
	volume, rest, _ := strings.Cut(arg[drive:], ":")
	return location{arg[:drive] + volume, inVolume(rest)}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// inVolume cleans a path in a volume. A leading slash means the root, which it starts from anyway.
func inVolume(p string) string {
	p = strings.TrimPrefix(path.Clean("/"+p), "/")
	if p == "" {
		return "."
	}
	return p
}

func (l location) String() string { return l.display(l.path) }

// display is how a path in the volume is shown.
func (l location) display(p string) string {
	if p == "." {
		return l.volume
	}
	return l.volume + ":" + p
}

var errNoVolume = errors.New("no such volume")

// open opens the volume.
func (l location) open() (*folio.FS, error) {
	v, err := folio.Open(l.volume, nil)
	if errors.Is(err, fs.ErrNotExist) {
		err = errNoVolume
	}
	return v, l.openFailure(err)
}

// openFailure says what is wrong with opening the volume.
func (l location) openFailure(err error) error {
	e, ok := errors.AsType[*fs.PathError](err)
	if ok && (strings.HasSuffix(e.Path, "-wal") || strings.HasSuffix(e.Path, "-shm")) {
		return hint(err, "the files next to a volume in use must be readable, as the volume is")
	}
	return failure(l.volume, err)
}

// view calls fn with a snapshot of the volume. Errors about a path in it come out with the volume's name.
func (l location) view(ctx context.Context, fn func(rx *folio.Rx) error) error {
	v, err := l.open()
	if err != nil {
		return err
	}
	defer v.Close()
	return v.View(ctx, fn)
}

// failure says what is wrong with a path in the volume.
func (l location) failure(p string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		if e.Path == l.volume {
			return err
		}
		err = e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return &fs.PathError{Path: l.display(p), Err: err}
}
