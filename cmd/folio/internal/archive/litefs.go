package archive

import (
	"context"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/sqlitefile"
)

// litefsSchema is that of LiteFS, the Go package go.husin.dev/litefs of 2022.
var litefsSchema = []string{
	`CREATE TABLE litefs_entry (id TEXT NOT NULL PRIMARY KEY, parent_id TEXT REFERENCES litefs_entry (id) ON DELETE CASCADE,
  name TEXT NOT NULL, modtime TEXT NOT NULL, content BLOB, UNIQUE (parent_id, name))`,
	"CREATE TABLE schema_migrations (version VARCHAR(255) PRIMARY KEY)",
}

const litefsVersion = "20220502213415"

// A litefsWriter writes a database of LiteFS: names, contents and times. Every name of a file is a
// file of its own.
type litefsWriter struct {
	table *sqlitefile.TableBuilder
	o     *Options
	buf   []byte
	dirs  dirStack // by rowids
	rowid int64
	data  value // the last content
}

func createLitefs(ctx context.Context, file string, o *Options, walk Walk) error {
	return buildDatabase(ctx, file, o, func(b *sqlitefile.Builder) (func(*source.Entry) error, error) {
		l := &litefsWriter{o: o, buf: make([]byte, copySize)}
		return l.add, l.begin(b)
	}, walk)
}

func (l *litefsWriter) begin(b *sqlitefile.Builder) error {
	for _, statement := range litefsSchema {
		if err := b.Create(statement); err != nil {
			return err
		}
	}
	versions, err := b.Table("schema_migrations")
	if err == nil {
		err = versions.Append(1, litefsVersion)
	}
	if err == nil {
		l.table, err = b.Table("litefs_entry")
	}
	return err
}

func (l *litefsWriter) add(e *source.Entry) error {
	switch {
	case l.dirs.leavesOut(e, l.o):
		return nil
	case e.Name == ".":
		l.dirs.enter(".", 0)
		return nil
	}
	content, ok, err := l.content(e)
	if err != nil {
		return source.WrapEntry(e.Name, err)
	}
	if !ok {
		return nil
	}
	var parent any // NULL for the root
	if dir := l.dirs.parent(e.Name); dir > 0 {
		parent = litefsID(dir)
	}
	l.rowid++
	if e.Mode.IsDir() {
		l.dirs.enter(e.Name, l.rowid)
	}
	return l.table.Append(l.rowid, litefsID(l.rowid), parent, path.Base(e.Name), e.ModTime.UTC().Format(time.RFC3339Nano), content)
}

// content returns the content of a regular file, valid until the next call, or nil for a directory.
// ok reports whether the database gets the entry.
func (l *litefsWriter) content(e *source.Entry) (content any, ok bool, err error) {
	switch e.Mode.Type() {
	case fs.ModeDir:
		return nil, true, nil
	case fs.ModeSymlink:
		l.o.warn(e.Name, "a symbolic link")
		return nil, false, nil
	case 0:
		if e.Size > maxValue {
			return nil, false, fmt.Errorf("%w: a database of LiteFS holds files of %d bytes at most", folio.ErrTooLarge, maxValue)
		}
		l.data.reset(e.Size)
		err := copyContent(&l.data, e, l.buf)
		return l.data.Bytes(), true, err
	}
	l.o.warn(e.Name, "a special file")
	return nil, false, nil
}

// litefsIDs writes 12 bytes as LiteFS does. Its ids begin with the seconds since 1970, and those of
// an export with zeros, so that they never collide.
var litefsIDs = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

func litefsID(rowid int64) string {
	var id [12]byte
	binary.BigEndian.PutUint64(id[4:], uint64(rowid))
	return litefsIDs.EncodeToString(id[:])
}
