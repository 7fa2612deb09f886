package folio

import (
	"context"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/inoset"
)

// ImportOptions say how ImportFS works. The zero value, and nil, are good defaults.
type ImportOptions struct {
	CreateOptions
	// Progress, if it is not nil, is called after each file, in the order of the walk, with its
	// name and with the counts so far.
	Progress func(name string, done BuildStats)
}

// ImportFS makes a new volume at path of the tree that src holds: contents, modes, modification
// times and, if src is an fs.ReadLinkFS, symbolic links. Hard links and owners are beyond io/fs: a
// linked file becomes two.
//
// A file that cannot be read, or vanishes meanwhile, ends the import; no volume is left behind.
func ImportFS(ctx context.Context, path string, src fs.FS, o *ImportOptions) error {
	if o == nil {
		o = new(ImportOptions)
	}
	var seen inoset.Set
	return Create(ctx, path, &o.CreateOptions, func(b *Builder) error {
		return fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil {
				err = b.importEntry(src, name, d, &seen)
			}
			err = unexpectedEnd("readdir", name, err)
			if err == nil && o.Progress != nil {
				o.Progress(name, b.Stats())
			}
			return err
		})
	})
}

// unexpectedEnd names the operation and the file in an io.EOF that a source gave in place of an
// answer: it must not look like the end of anything.
func unexpectedEnd(op, name string, err error) error {
	if err == io.EOF {
		return pathError(op, name, io.ErrUnexpectedEOF)
	}
	return err
}

func (b *Builder) importEntry(src fs.FS, name string, d fs.DirEntry, seen *inoset.Set) error {
	info, err := d.Info()
	if err != nil {
		return pathError("lstat", name, err)
	}
	if n, ok := info.Sys().(*Node); ok && info.IsDir() { // src is a volume
		if err := enterOnce(seen, n); err != nil {
			return pathError("readdir", name, err)
		}
	}
	switch {
	case info.Mode().IsRegular():
		return b.importFile(src, name)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := fs.ReadLink(src, name)
		if err != nil {
			return pathError("readlink", name, err)
		}
		return b.Add(FileInfoHeader(name, info, target), nil)
	}
	return b.Add(FileInfoHeader(name, info, ""), nil)
}

// importFile adds a regular file as it is when it is opened.
func (b *Builder) importFile(src fs.FS, name string) (err error) {
	f, err := src.Open(name)
	if err != nil {
		return pathError("open", name, err)
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = pathError("close", name, closed)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return pathError("stat", name, err)
	}
	return b.Add(FileInfoHeader(name, info, ""), f)
}
