package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/cmd/folio/internal/target"
)

// A location is a file in a volume, as the command line names it: VOLUME[:PATH].
type location struct {
	volume string // path of the volume's file
	path   string // of the file in it; "." for the root
}

// rootOf is the root of a volume.
func rootOf(volume string) location { return location{volume, "."} }

// locate reads a location. The volume is the longest beginning, before a colon or the end, that
// names something that exists. If there is none, it is the text before the first colon.
func locate(arg string) location {
	if exists(arg) {
		return rootOf(arg)
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

// open opens the volume.
func (l location) open() (*folio.Volume, error) {
	v, err := folio.Open(l.volume, nil)
	if errors.Is(err, fs.ErrNotExist) {
		err = errNoVolume
	}
	return v, l.openFailure(err)
}

// openFailure names the volume in an error of opening it.
func (l location) openFailure(err error) error {
	e, ok := errors.AsType[*fs.PathError](err)
	if ok && (strings.HasSuffix(e.Path, "-wal") || strings.HasSuffix(e.Path, "-shm")) {
		return hint(err, "the files next to a volume in use must be readable, as the volume is")
	}
	return failure(l.volume, err)
}

// view calls fn with a snapshot of the volume. Errors about a path in it come out with the volume's
// name.
func (l location) view(ctx context.Context, fn func(rx *folio.Rx) error) error {
	v, err := l.open()
	if err != nil {
		return err
	}
	defer v.Close()
	return v.View(ctx, fn)
}

// failure names a path in the volume in an error.
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

// isVolume reports whether a file on disk looks like a volume.
func isVolume(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [72]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && bytes.HasPrefix(head[:], []byte("SQLite format 3\x00")) &&
		binary.BigEndian.Uint32(head[68:]) == volumeID
}

// entryFailure names the file in an error of an entry of the volumeTree at l.
func (l location) entryFailure(e *source.EntryError) error {
	name := path.Join(l.path, e.Name)
	if errors.Is(e.Err, target.ErrName) {
		name = l.path + "/" + e.Name // as it is, and not where it would lead
	}
	return l.failure(name, e.Err)
}

// sameFile reports whether two names on disk are of one file.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	inA, errA := os.Stat(a)
	inB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(inA, inB)
}

// skipVolume returns the files to pass over if an existing volume lies within a source: the volume,
// and the side files of a database.
func skipVolume(volume string) (func(source.FileID, string) bool, error) {
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

// volumeID is the application_id of volumes, as docs/format.md has it.
const volumeID = 0x466F6C69
