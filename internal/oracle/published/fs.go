// Package published is a file system in SQLite as one was published in 2022, to be measured next to
// ours: a table of entries, read through io/fs by plain queries of database/sql, and filled by
// Merge. It is written from the published description. It keeps the defects that the description
// names, because they were part of the published measurements:
//
//   - nothing is prepared: each query is a text;
//   - a path is found by one query for each of its elements;
//   - a listing loads the contents of all files in the directory;
//   - a file at the root cannot be stored;
//   - a file that is there cannot be replaced.
package published

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"
)

// Schema makes the table. A directory is an entry without content, and an entry of the root has no
// parent. If foreign keys are on, the database deletes the entries of deleted directories.
const Schema = `CREATE TABLE IF NOT EXISTS entries (
  id        TEXT PRIMARY KEY,
  parent_id TEXT REFERENCES entries (id) ON DELETE CASCADE,
  name      TEXT NOT NULL,
  modtime   INTEGER NOT NULL,
  content   BLOB,
  UNIQUE (parent_id, name)
)`

// An FS is the file system in a database. It implements fs.FS, and nothing more of io/fs.
type FS struct{ db *sql.DB }

// New makes the table if need be.
func New(ctx context.Context, db *sql.DB) (*FS, error) {
	if _, err := db.ExecContext(ctx, Schema); err != nil {
		return nil, err
	}
	return &FS{db}, nil
}

// An entry is a row.
type entry struct {
	id      string // "" for the root
	name    string
	modtime int64
	content []byte
	dir     bool
}

const columns = "id, name, modtime, content, content IS NULL"

func (e *entry) scan(row interface{ Scan(dest ...any) error }) error {
	return row.Scan(&e.id, &e.name, &e.modtime, &e.content, &e.dir)
}

// Open implements fs.FS.
func (f *FS) Open(name string) (fs.File, error) {
	e, err := find(f.db, name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if e.dir {
		return &dir{db: f.db, entry: e}, nil
	}
	return &file{Reader: bytes.NewReader(e.content), entry: e}, nil
}

// A querier is a *sql.DB or a *sql.Tx.
type querier interface {
	QueryRow(query string, args ...any) *sql.Row
}

// find follows a path.
func find(q querier, name string) (entry, error) {
	e := entry{name: ".", dir: true}
	if !fs.ValidPath(name) {
		return e, fs.ErrInvalid
	}
	if name == "." {
		return e, nil
	}
	for elem := range strings.SplitSeq(name, "/") {
		parent := e.id
		if err := e.scan(q.QueryRow("SELECT "+columns+" FROM entries WHERE parent_id IS ? AND name = ?", orNull(parent), elem)); err != nil {
			return e, missing(err)
		}
	}
	return e, nil
}

// orNull returns the parent_id of an entry of a directory.
func orNull(id string) any {
	if id == "" {
		return nil
	}
	return id
}

func missing(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fs.ErrNotExist
	}
	return err
}

// A file is an open file, all of it in memory.
type file struct {
	*bytes.Reader
	entry
}

func (f *file) Stat() (fs.FileInfo, error) { return &info{f.entry}, nil }
func (f *file) Close() error               { return nil }

// A dir is an open directory.
type dir struct {
	db *sql.DB
	entry
	list []fs.DirEntry // the entries still to be returned
	read bool          // list was filled
}

func (d *dir) Stat() (fs.FileInfo, error) { return &info{d.entry}, nil }
func (d *dir) Close() error               { return nil }

func (d *dir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: errors.New("is a directory")}
}

// ReadDir implements fs.ReadDirFile.
func (d *dir) ReadDir(n int) ([]fs.DirEntry, error) {
	if !d.read {
		if err := d.load(); err != nil {
			return nil, err
		}
	}
	list := d.list
	if n > 0 {
		if len(list) == 0 {
			return nil, io.EOF
		}
		list = list[:min(n, len(list))]
	}
	d.list = d.list[len(list):]
	return list, nil
}

// load reads the directory, with all that its files hold.
func (d *dir) load() error {
	rows, err := d.db.Query("SELECT "+columns+" FROM entries WHERE parent_id IS ? ORDER BY name", orNull(d.id))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var e entry
		if err := e.scan(rows); err != nil {
			return err
		}
		d.list = append(d.list, fs.FileInfoToDirEntry(&info{e}))
	}
	d.read = true
	return rows.Err()
}

// An info describes an entry.
type info struct{ e entry }

func (i *info) Name() string       { return i.e.name }
func (i *info) Size() int64        { return int64(len(i.e.content)) }
func (i *info) ModTime() time.Time { return time.Unix(0, i.e.modtime) }
func (i *info) IsDir() bool        { return i.e.dir }
func (i *info) Sys() any           { return nil }

func (i *info) Mode() fs.FileMode {
	if i.e.dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}
