package archive

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/sqlitefile"
)

// A sqlarWriter writes a SQLite archive, as sqlite3 -A reads it: modes, times in seconds. Every
// name of a file is a file of its own.
type sqlarWriter struct {
	table *sqlitefile.TableBuilder
	o     *Options
	buf   []byte
	rowid int64
	path  string
}

const (
	sqlarSchema = "CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode INT, mtime INT, sz INT, data BLOB)"
	maxValue    = 1_000_000_000 // bytes that SQLite accepts in a value, unless it was built otherwise
)

func createSqlar(ctx context.Context, path string, o *Options, walk Walk) error {
	var own error
	err := sqlitefile.Build(ctx, path, &sqlitefile.BuildOptions{Replace: o.Replace}, func(b *sqlitefile.Builder) error {
		if err := b.Create(sqlarSchema); err != nil {
			return err
		}
		table, err := b.Table("sqlar")
		if err != nil {
			return err
		}
		s := &sqlarWriter{table: table, o: o, buf: make([]byte, copySize), path: path}
		own = walk(s.add)
		return own
	})
	if own != nil {
		return own
	}
	return pathError(path, err)
}

func (s *sqlarWriter) add(e *source.Entry) error {
	var size int64
	var data any
	switch e.Mode.Type() {
	case fs.ModeDir:
		if e.Name == "." {
			return nil
		}
	case fs.ModeSymlink:
		size, data = int64(len(e.Linkname)), e.Linkname // not -1, as sqlite3 writes, for which sqlite3 -Ax fails (3.40)
	case 0:
		content, err := s.content(e)
		if err != nil {
			return source.WrapEntry(e.Name, err)
		}
		size, data = e.Size, content
	default:
		s.o.warn(e.Name, "a special file")
		return nil
	}
	s.rowid++
	mode, _ := posix.Mode(e.Mode)
	return pathError(s.path, s.table.Append(s.rowid, e.Name, int64(mode), e.ModTime.Unix(), size, data))
}

// content returns the content of a regular file, compressed if that makes it smaller.
func (s *sqlarWriter) content(e *source.Entry) ([]byte, error) {
	if e.Size > maxValue {
		return nil, fmt.Errorf("%w: a SQLite archive holds files of %d bytes at most", folio.ErrTooLarge, maxValue)
	}
	var packed bytes.Buffer
	plain := bytes.NewBuffer(make([]byte, 0, e.Size))
	z := zlib.NewWriter(&packed)
	if err := errors.Join(copyContent(io.MultiWriter(plain, z), e, s.buf), z.Close()); err != nil {
		return nil, err
	}
	if packed.Len() < plain.Len() {
		return packed.Bytes(), nil
	}
	return plain.Bytes(), nil
}
