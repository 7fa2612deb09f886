package archive

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/zlib"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/sqlitefile"
)

// A sqlarWriter writes a SQLite archive, as sqlite3 -A reads it: modes, times in seconds. Every
// name of a file is a file of its own. Symbolic links come last, because sqlite3 -Ax (3.40) ends
// at the first one that leads nowhere.
type sqlarWriter struct {
	file  string
	table *sqlitefile.TableBuilder
	o     *Options
	buf   []byte
	rowid int64
	links []sqlarLink

	plain  value // the last content
	packed shorter
	z      *zlib.Writer
}

// A sqlarLink is a symbolic link that waits for the end of the walk.
type sqlarLink struct {
	name, target string
	mode, mtime  int64
}

const (
	sqlarSchema = "CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode INT, mtime INT, sz INT, data BLOB)"
	maxValue    = 1_000_000_000 // bytes that SQLite accepts in a value, unless it was built otherwise
)

// createSqlar builds the database in one go, without a log: the file gets its name when it is
// complete.
func createSqlar(ctx context.Context, file string, o *Options, fill Fill) error {
	s := &sqlarWriter{file: file, o: o, buf: make([]byte, copySize), z: zlib.NewWriter(nil)}
	var own error // of fill
	err := sqlitefile.Build(ctx, file, &sqlitefile.BuildOptions{Replace: o.Replace}, func(b *sqlitefile.Builder) error {
		err := b.Create(sqlarSchema)
		if err == nil {
			s.table, err = b.Table("sqlar")
		}
		if err != nil {
			return err
		}
		own = fill(s)
		return own
	})
	if own != nil {
		return own
	}
	return pathError(file, err)
}

// Add implements tree.Sink.
func (s *sqlarWriter) Add(e *tree.Entry) error { return pathError(s.file, s.add(e)) }

// add appends a row, but keeps symbolic links for the end.
func (s *sqlarWriter) add(e *tree.Entry) error {
	if e.Mode.Type() == fs.ModeSymlink {
		mode, _ := posix.Mode(e.Mode)
		s.links = append(s.links, sqlarLink{e.Name, e.Linkname, int64(mode), e.ModTime.Unix()})
		return nil
	}
	size, data, ok, err := s.data(e)
	if err != nil {
		return tree.WrapEntry(e.Name, err)
	}
	if !ok {
		return nil
	}
	s.rowid++
	mode, _ := posix.Mode(e.Mode)
	return s.table.Append(s.rowid, e.Name, int64(mode), e.ModTime.Unix(), size, data)
}

// Finish implements tree.Sink. It writes the symbolic links. Their size is not -1, as sqlite3
// writes it, because sqlite3
// -Ax fails at such links (3.40).
func (s *sqlarWriter) Finish() error {
	for _, l := range s.links {
		s.rowid++
		if err := s.table.Append(s.rowid, l.name, l.mode, l.mtime, int64(len(l.target)), l.target); err != nil {
			return pathError(s.file, err)
		}
	}
	return nil
}

// data returns the values of the columns sz and data. ok reports whether the archive gets the
// entry.
func (s *sqlarWriter) data(e *tree.Entry) (size int64, data any, ok bool, err error) {
	switch e.Mode.Type() {
	case fs.ModeDir:
		return 0, nil, e.Name != ".", nil
	case 0:
		data, err := s.content(e)
		return e.Size, data, err == nil, err
	}
	s.o.warn(e.Name, "a special file")
	return 0, nil, false, nil
}

// content returns the content of a regular file, compressed if that makes it smaller. It is valid
// until the next call.
func (s *sqlarWriter) content(e *tree.Entry) ([]byte, error) {
	if e.Size > maxValue {
		return nil, fmt.Errorf("%w: a SQLite archive holds files of %d bytes at most", folio.ErrTooLarge, maxValue)
	}
	s.plain.reset(e.Size)
	s.packed.reset(e.Size)
	s.z.Reset(&s.packed)
	if err := copyContent(io.MultiWriter(&s.plain, s.z), e, s.buf); err != nil {
		return nil, err
	}
	if err := s.z.Close(); err != nil {
		return nil, err
	}
	if s.packed.fits {
		return s.packed.Bytes(), nil
	}
	return s.plain.Bytes(), nil
}

// A shorter takes the output of a compressor while that is shorter than the content.
type shorter struct {
	value
	size int64 // of the content
	fits bool
}

func (s *shorter) reset(size int64) {
	s.value.reset(size)
	s.size, s.fits = size, size > 0
}

func (s *shorter) Write(p []byte) (int, error) {
	if s.fits = s.fits && int64(s.Len()+len(p)) < s.size; s.fits {
		return s.Buffer.Write(p)
	}
	return len(p), nil
}

// A value is a content as one value of a database.
type value struct{ bytes.Buffer }

// reset empties it, with space for a content: a buffer that grows takes up to three times as much.
// The empty content is a value, too, and not NULL.
func (v *value) reset(size int64) {
	v.Reset()
	if int64(v.Cap()) < max(size, 1) {
		v.Buffer = *bytes.NewBuffer(make([]byte, 0, max(size, 1)))
	}
}
