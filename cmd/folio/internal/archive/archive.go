// Package archive writes the archives that folio export gives out: tar, plain or compressed by
// gzip or zstd, zip, SQLite archives, and AgentFS databases.
//
// Entries are those of a source, in walk order, and are written one at a time: contents stream
// through little memory, except in a SQLite archive, where each is a value. Files that a format
// cannot hold are left out with a warning. docs/command.md describes them.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/internal/osfile"
)

// Options say how to write.
type Options struct {
	// Replace lets Create replace an existing file, at once and as a whole, when the archive is
	// complete.
	Replace bool
	// Warn is called for each file that the format cannot hold. It may be nil.
	Warn func(name, what string)
	// Names says how many names the files with several have in the tree, by their inodes. Only an
	// AgentFS database needs it.
	Names map[uint64]int64
}

func (o *Options) warn(name, what string) {
	if o.Warn != nil {
		o.Warn(name, what)
	}
}

// A Walk calls fn for each entry that goes into the archive.
type Walk func(fn func(*source.Entry) error) error

// A writer writes the entries of one archive.
type writer interface {
	add(e *source.Entry) error
	io.Closer // finishes the archive
}

// Op is the Op of every *fs.PathError about the archive.
const Op = "archive"

// ErrNoStream says that a format cannot be written to a stream.
var ErrNoStream = errors.New("cannot be written to standard output")

// Create writes an archive to a file at path, which appears there complete and durable, or not at
// all. Errors of writing are *fs.PathError with Op and path; those of an entry are
// *source.EntryError.
func Create(ctx context.Context, path string, f Format, o *Options, walk Walk) error {
	switch f {
	case Sqlar:
		return createSqlar(ctx, path, o, walk)
	case AgentFS:
		return createAgent(ctx, path, o, walk)
	}
	resolved, err := osfile.Resolve(path)
	if err != nil {
		return pathError(path, err)
	}
	create := osfile.CreateTemp
	if _, exists, err := osfile.Exists(resolved); err == nil && exists {
		create = osfile.CreatePrivate // the mode and the owner are those of the old file
	}
	file, err := osfile.CreateLive(filepath.Dir(resolved), create)
	if err != nil {
		return pathError(path, err)
	}
	defer file.Discard()
	out := &output{w: io.NewOffsetWriter(file, 0)}
	if err := stream(out, f, o, walk); err != nil {
		return outputError(path, out, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.Replace {
		return pathError(path, osfile.ReplaceDurably(file, resolved))
	}
	return pathError(path, osfile.PlaceDurably(file, resolved))
}

// Stream writes an archive to w, which name names in errors.
func Stream(w io.Writer, name string, f Format, o *Options, walk Walk) error {
	out := &output{w: w}
	return outputError(name, out, stream(out, f, o, walk))
}

func stream(out *output, f Format, o *Options, walk Walk) error {
	w, err := newWriter(out, f, o)
	if err != nil {
		return err
	}
	err = walk(func(e *source.Entry) error {
		err := w.add(e)
		if err != nil && out.err == nil {
			err = source.WrapEntry(e.Name, err)
		}
		return err
	})
	if err != nil {
		return err
	}
	return w.Close()
}

func newWriter(out *output, f Format, o *Options) (writer, error) {
	switch f {
	case Tar:
		return newTarWriter(out, nil, o), nil
	case TarGzip:
		return newGzipWriter(out, o), nil
	case TarZstd:
		return newZstdWriter(out, o)
	case Zip:
		return newZipWriter(out, o), nil
	}
	return nil, ErrNoStream
}

// An output remembers the error of its writer. So it can be told from an error of reading.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// outputError returns the error of writing the archive, or else err.
func outputError(path string, out *output, err error) error {
	if out.err != nil {
		return pathError(path, out.err)
	}
	return err
}

// pathError names the archive in place of its temporary file.
func pathError(path string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return &fs.PathError{Op: Op, Path: path, Err: err}
}

// copySize is how much of a content is copied at once.
const copySize = 256 << 10

// copyContent writes the content of a regular file, all of it.
func copyContent(w io.Writer, e *source.Entry, buf []byte) error {
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{e.Content}, buf)
	if err == nil && n != e.Size {
		err = fmt.Errorf("%w: %d bytes of %d", io.ErrUnexpectedEOF, n, e.Size)
	}
	return err
}
