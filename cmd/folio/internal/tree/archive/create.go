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
// warning. docs/howto/command.md describes them.
package archive

import (
	"context"
	"io"
	"path/filepath"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/internal/osfile"
)

// Create writes an archive to a file at path, which appears there complete and durable, or not at
// all. Errors of writing are *fs.PathError with Op and path; those of an entry are
// *tree.EntryError.
func Create(ctx context.Context, path string, f Format, o *Options, walk Walk) error {
	if f == Sqlar {
		return createSqlar(ctx, path, o, walk)
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
	err = walk(func(e *tree.Entry) error {
		err := w.add(e)
		if err != nil && out.err == nil {
			err = tree.WrapEntry(e.Name, err)
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
