package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
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

// A Walk calls fn for each entry that goes into the archive.
type Walk func(fn func(*tree.Entry) error) error

// A writer writes the entries of one archive.
type writer interface {
	add(e *tree.Entry) error
	io.Closer // finishes the archive
}

// Op is the Op of every *fs.PathError about the archive.
const Op = "archive"

// ErrNoStream says that a format cannot be written to a stream.
var ErrNoStream = errors.New("cannot be written to standard output")

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
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{e.Content}, buf)
	if err == nil && n != e.Size {
		err = fmt.Errorf("%w: %d bytes of %d", io.ErrUnexpectedEOF, n, e.Size)
	}
	return err
}
