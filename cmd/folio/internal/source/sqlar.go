package source

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/sqlitefile"
)

// A sqlarSource is a SQLite archive: a database with
//
//	CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode INT, mtime INT, sz INT, data BLOB)
//
// where mode is a POSIX st_mode, mtime counts seconds, and data is the content as it is if it has
// sz bytes, or else compressed by zlib. The data of a symbolic link is its target, with a sz of -1;
// that of a directory is NULL.
type sqlarSource struct {
	db *sqlitefile.DB
	o  *Options
}

// A sqlarRow is a row of the archive, without its data.
type sqlarRow struct {
	name  string
	rowid int64
	mode  uint32
	mtime int64
	size  int64
}

var sqlarColumns = []string{"name", "mode", "mtime", "sz", "data"}

func (s *sqlarSource) OnDisk() bool { return false }

func (s *sqlarSource) Size(context.Context) (int64, bool) { return 0, false }

func (s *sqlarSource) Close() error { return s.db.Close() }

func (s *sqlarSource) Walk(ctx context.Context, fn func(*Entry) error) error {
	return run(ctx, s.o, false, func(p *pipeline) error {
		return s.db.View(p.ctx, func(rx *sqlitefile.Rx) error {
			if err := checkDatabase(p.ctx, rx); err != nil {
				return err
			}
			return (&sqlarProducer{pipeline: p, rx: rx}).walk()
		})
	}, fn)
}

// A sqlarProducer copies the data of the rows out of the database. Workers inflate it.
type sqlarProducer struct {
	*pipeline
	rx    *sqlitefile.Rx
	table sqlitefile.Table
	place [5]int // of sqlarColumns
}

// sqlarTable returns the table of an archive, and the places of sqlarColumns in it.
func sqlarTable(rx *sqlitefile.Rx) (t sqlitefile.Table, place [5]int, err error) {
	t, err = rx.Table("sqlar")
	if err != nil {
		return t, place, err
	}
	for i, column := range sqlarColumns {
		place[i] = slices.IndexFunc(t.Columns(), func(c sqlitefile.Column) bool { return strings.EqualFold(c.Name, column) })
		if place[i] < 0 || t.WithoutRowid() {
			return t, place, ErrDatabase
		}
	}
	return t, place, nil
}

func (s *sqlarProducer) walk() (err error) {
	if s.table, s.place, err = sqlarTable(s.rx); err != nil {
		return err
	}
	rows, err := s.rows()
	if err != nil {
		return err
	}
	slices.SortStableFunc(rows, func(a, b sqlarRow) int { return compareNames(a.name, b.name) })
	for i := range rows {
		if err := s.entry(&rows[i]); err != nil {
			return WrapEntry(rows[i].name, err)
		}
	}
	return nil
}

// rows reads the directory of the archive.
func (s *sqlarProducer) rows() (rows []sqlarRow, err error) {
	for row, err := range s.table.All() {
		if err != nil {
			return nil, err
		}
		r, name, err := s.row(&row)
		if err != nil {
			return nil, WrapEntry(name, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (s *sqlarProducer) row(row *sqlitefile.Row) (r sqlarRow, name string, err error) {
	if err := short(row, s.place[:4]...); err != nil {
		return r, fmt.Sprintf("row %d", row.Rowid()), err
	}
	name, err = row.Text(s.place[0])
	if err != nil {
		return r, name, err
	}
	var n [3]int64
	for i := range n {
		if n[i], err = row.Int64(s.place[1+i]); err != nil {
			return r, name, err
		}
	}
	r = sqlarRow{rowid: row.Rowid(), mode: uint32(n[0]), mtime: n[1], size: n[2]}
	r.name, err = cleanName(name)
	return r, name, err
}

func (s *sqlarProducer) entry(r *sqlarRow) error {
	if r.mode&posix.ModeType == 0 {
		r.mode |= posix.ModeRegular
	}
	e := &Entry{Header: header(r.name)}
	e.Mode, e.ModTime = posix.FileMode(r.mode), time.Unix(r.mtime, 0)
	e.UID, e.GID = own()
	switch e.Mode.Type() {
	case 0:
		return s.file(e, r)
	case fs.ModeSymlink:
		target, err := s.target(r)
		if err != nil {
			return err
		}
		e.Linkname = string(target)
	case fs.ModeDir, fs.ModeNamedPipe:
	default: // a device has no number here
		return ErrType
	}
	return s.add(e, nil)
}

// find returns the row with the data and the data's size.
func (s *sqlarProducer) find(r *sqlarRow) (row sqlitefile.Row, size int64, err error) {
	row, ok, err := s.table.Get(r.rowid)
	if err == nil && !ok {
		err = ErrDamaged
	}
	if err == nil {
		size, err = row.Size(s.place[4])
	}
	return row, size, err
}

// target returns the target of a symbolic link, which is its data.
func (s *sqlarProducer) target(r *sqlarRow) ([]byte, error) {
	row, size, err := s.find(r)
	if err != nil {
		return nil, err
	}
	if size > maxTarget {
		return nil, ErrTarget
	}
	p := make([]byte, size)
	return p, s.readAt(&row, p, 0)
}

func (s *sqlarProducer) readAt(row *sqlitefile.Row, p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	_, err := row.ReadAt(s.place[4], p, off)
	return err
}

func (s *sqlarProducer) file(e *Entry, r *sqlarRow) error {
	if r.size < 0 || r.size > maxArchivable {
		return folio.ErrTooLarge
	}
	e.Size = r.size
	row, size, err := s.find(r)
	if err != nil {
		return err
	}
	if size > smallSize || e.Size > smallSize {
		return s.large(e, &row, size)
	}
	data := make([]byte, size)
	if err := s.readAt(&row, data, 0); err != nil {
		return err
	}
	return s.add(e, sqlarData(data))
}

// large feeds a stream from here, since only this goroutine may use the transaction.
func (s *sqlarProducer) large(e *Entry, row *sqlitefile.Row, size int64) error {
	out := newStream(s.ctx)
	if err := s.addFed(e, out); err != nil {
		return err
	}
	in := io.NewSectionReader(columnReader{row, s.place[4]}, 0, size)
	r, err := sqlarReader(in, size, e.Size)
	if err == nil {
		err = archiveError(out.readFrom(r, e.Size))
	}
	out.close(err)
	return err
}

// sqlarReader returns the content that stored bytes of data mean.
func sqlarReader(data io.Reader, stored, size int64) (io.Reader, error) {
	if stored == size {
		return data, nil
	}
	r, err := zlib.NewReader(data)
	return r, archiveError(err)
}

// A sqlarData is the data of a small file.
type sqlarData []byte

func (d sqlarData) fill(_ *Entry, p []byte) error {
	r, err := sqlarReader(bytes.NewReader(d), int64(len(d)), int64(len(p)))
	if err == nil {
		err = archiveError(readExactly(r, p))
	}
	return err
}

func (d sqlarData) feed(s *stream) error { panic("source: a small content is no stream") }

func (d sqlarData) drop() {}
