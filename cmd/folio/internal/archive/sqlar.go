package archive

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/zlib"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/sqlitefile"
)

// A sqlarWriter writes a SQLite archive, as sqlite3 -A reads it: modes, times in seconds. Every
// name of a file is a file of its own. Symbolic links come last, because sqlite3 -Ax (3.40) ends
// at the first one that leads nowhere.
type sqlarWriter struct {
	table *sqlitefile.TableBuilder
	o     *Options
	buf   []byte
	rowid int64
	links []sqlarRow

	plain  value // the last content
	packed shorter
	z      *zlib.Writer
}

// A sqlarRow is a symbolic link that waits for the end of the walk.
type sqlarRow struct {
	name, target string
	mode, mtime  int64
}

const (
	sqlarSchema = "CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode INT, mtime INT, sz INT, data BLOB)"
	maxValue    = 1_000_000_000 // bytes that SQLite accepts in a value, unless it was built otherwise
)

func createSqlar(ctx context.Context, path string, o *Options, walk Walk) error {
	s := &sqlarWriter{o: o, buf: make([]byte, copySize), z: zlib.NewWriter(nil)}
	return buildDatabase(ctx, path, o, func(b *sqlitefile.Builder) (add func(*source.Entry) error, err error) {
		if err := b.Create(sqlarSchema); err != nil {
			return nil, err
		}
		s.table, err = b.Table("sqlar")
		return s.add, err
	}, func(fn func(*source.Entry) error) error {
		if err := walk(fn); err != nil {
			return err
		}
		return pathError(path, s.addLinks())
	})
}

func (s *sqlarWriter) add(e *source.Entry) error {
	if e.Mode.Type() == fs.ModeSymlink {
		mode, _ := posix.Mode(e.Mode)
		s.links = append(s.links, sqlarRow{e.Name, e.Linkname, int64(mode), e.ModTime.Unix()})
		return nil
	}
	size, data, ok, err := s.data(e)
	if err != nil {
		return source.WrapEntry(e.Name, err)
	}
	if !ok {
		return nil
	}
	s.rowid++
	mode, _ := posix.Mode(e.Mode)
	return s.table.Append(s.rowid, e.Name, int64(mode), e.ModTime.Unix(), size, data)
}

// addLinks writes the symbolic links. Their size is not -1, as sqlite3 writes it, because sqlite3
// -Ax fails at such links (3.40).
func (s *sqlarWriter) addLinks() error {
	for _, l := range s.links {
		s.rowid++
		if err := s.table.Append(s.rowid, l.name, l.mode, l.mtime, int64(len(l.target)), l.target); err != nil {
			return err
		}
	}
	return nil
}

// data returns the values of the columns sz and data. ok reports whether the archive gets the
// entry.
func (s *sqlarWriter) data(e *source.Entry) (size int64, data any, ok bool, err error) {
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
func (s *sqlarWriter) content(e *source.Entry) ([]byte, error) {
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

// A shorter takes what a compressor writes, as long as that is shorter than the content.
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
