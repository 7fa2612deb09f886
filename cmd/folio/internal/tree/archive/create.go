// Package archive reads and writes archives: tar, plain or compressed, zip, and SQLite archives.
//
// # Reading
//
// Open tells a directory and the kinds of archives apart by their content, not by their names. A
// zip and a SQLite archive are sorted by name at each level, a tar archive comes in its own order.
// An archive need not hold the directories that its names imply.
//
// Archives are taken for hostile. A name is relative and leads nowhere but down, or it is an error;
// a content has the size that its entry announces, and no size that an archive claims is allocated
// before its bytes are there. The folio.Builder refuses names that collide, or that are below a
// file that is no directory. This package handles one case: a tar archive may hold a name several
// times, as tar's own way to update an entry, and the last one wins. A hard link to an earlier one
// keeps the content of that. An archive that cannot be read twice, for example a compressed one,
// keeps the second entry, which the Builder refuses.
//
// # Writing
//
// Create and Stream write entries one at a time. Contents stream through little memory, except in a
// SQLite archive, where each is a value. Files that a format cannot hold are left out with a
// warning. docs/reference/archives.md describes them.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/internal/osfile"
)

// Options say how to write.
type Options struct {
	// Replace lets Create replace an existing file, at once and as a whole, when the archive is
	// complete.
	Replace bool
	// Warn is called for each file that the format cannot hold. It may be nil.
	Warn func(name, what string)
}

func (o *Options) warn(name, what string) {
	if o.Warn != nil {
		o.Warn(name, what)
	}
}

// A Fill adds all entries of an archive to a sink, and finishes it.
type Fill func(to tree.Sink) error

// Op is the Op of every *fs.PathError about the archive.
const Op = "archive"

// outputError returns the error of writing the archive, or else err.
func outputError(path string, out *tree.Output, err error) error {
	switch {
	case out.Err != nil:
		return pathError(path, out.Err)
	case err == tree.ErrNoStream:
		return pathError(path, err)
	}
	return err
}

// pathError names the archive in an error of writing it, in place of its temporary file.
func pathError(path string, err error) error {
	if _, ok := err.(*tree.EntryError); ok || err == nil {
		return err
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return &fs.PathError{Op: Op, Path: path, Err: err}
}

// copySize is how much of a content is copied at once.
const copySize = 256 << 10

// copyContent writes the content of a regular file, all of it.
func copyContent(w io.Writer, e *tree.Entry, buf []byte) error {
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{e.Reader()}, buf)
	if err == nil && n != e.Size {
		err = fmt.Errorf("%w: %d bytes of %d", io.ErrUnexpectedEOF, n, e.Size)
	}
	return err
}

// Create writes an archive to a file at path, which appears there complete and durable, or not at
// all. Errors of writing are *fs.PathError with Op and path; errors of an entry are
// *tree.EntryError.
func Create(ctx context.Context, path string, f Format, o *Options, fill Fill) error {
	if f == Sqlar {
		return createSqlar(ctx, path, o, fill)
	}
	resolved, err := osfile.Resolve(path)
	if err != nil {
		return pathError(path, err)
	}
	create := osfile.CreateTemp
	if _, exists, err := osfile.Exists(resolved); err == nil && exists {
		create = osfile.CreatePrivate // the mode and the owner are the old file's
	}
	file, err := osfile.CreateLive(filepath.Dir(resolved), create)
	if err != nil {
		return pathError(path, err)
	}
	defer file.Discard()
	out := &tree.Output{W: io.NewOffsetWriter(file, 0)}
	if err := stream(out, f, o, fill); err != nil {
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
func Stream(w io.Writer, name string, f Format, o *Options, fill Fill) error {
	out := &tree.Output{W: w}
	return outputError(name, out, stream(out, f, o, fill))
}

func stream(out *tree.Output, f Format, o *Options, fill Fill) error {
	w, err := newWriter(out, f, o)
	if err != nil {
		return err
	}
	return fill(&namingSink{w, out})
}

// A namingSink names the entry in an error, unless the archive cannot be written.
type namingSink struct {
	tree.Sink
	out *tree.Output
}

func (s *namingSink) Add(e *tree.Entry) error {
	err := s.Sink.Add(e)
	if err != nil && s.out.Err == nil {
		err = tree.WrapEntry(e.Name, err)
	}
	return err
}

func newWriter(out *tree.Output, f Format, o *Options) (tree.Sink, error) {
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
	return nil, tree.ErrNoStream
}
