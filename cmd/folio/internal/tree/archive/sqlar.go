package archive

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/sqlitefile"
)

// A sqlarSource is a SQLite archive: a database with
//
//	CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode INT, mtime INT, sz INT, data BLOB)
//
// where mode is a POSIX st_mode, mtime counts seconds, and data is the content as it is if it has
// sz bytes, or else compressed by zlib. The data of a symbolic link is its target, with a sz of -1;
// for a directory it is NULL.
type sqlarSource struct {
	title string // how errors name it
	db    *sqlitefile.DB
	o     *tree.Options
}

// openSqlar opens a SQLite archive. It opens the file again by the engine, and closes f.
func openSqlar(f *os.File, o *tree.Options) (tree.Source, error) {
	db, err := sqlitefile.Open(f.Name(), &sqlitefile.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	err = db.View(context.Background(), func(rx *sqlitefile.Rx) error {
		_, _, err := sqlarTable(rx)
		return err
	})
	if err != nil {
		db.Close()
		return nil, tree.OpenError(f.Name(), err)
	}
	f.Close()
	return &sqlarSource{title: f.Name(), db: db, o: o}, nil
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

func (s *sqlarSource) Fail(err error) error { return failure.InArchive(s.title, err) }

func (s *sqlarSource) Size(context.Context) (int64, bool) { return 0, false }

func (s *sqlarSource) Close() error { return s.db.Close() }

func (s *sqlarSource) Walk(ctx context.Context, fn func(*tree.Entry) error) error {
	return tree.Run(ctx, s.o, false, func(p *tree.Pipeline) error {
		return s.db.View(p.Ctx, func(rx *sqlitefile.Rx) error {
			if err := checkDatabase(p.Ctx, rx); err != nil {
				return err
			}
			return (&sqlarProducer{Pipeline: p, rx: rx}).walk()
		})
	}, fn)
}

// A sqlarProducer copies the data of the rows out of the database. Workers inflate it.
type sqlarProducer struct {
	*tree.Pipeline
	rx    *sqlitefile.Rx
	table sqlitefile.Table
	place [5]int // of sqlarColumns
}

// sqlarTable returns the table of an archive, and the places of sqlarColumns in it.
func sqlarTable(rx *sqlitefile.Rx) (t sqlitefile.Table, place [5]int, err error) {
	t, err = rx.Table("sqlar")
	if errors.Is(err, sqlitefile.ErrNoTable) {
		err = tree.ErrDatabase
	}
	if err != nil {
		return t, place, err
	}
	for i, column := range sqlarColumns {
		place[i] = slices.IndexFunc(t.Columns(), func(c sqlitefile.Column) bool { return strings.EqualFold(c.Name, column) })
		if place[i] < 0 || t.WithoutRowid() {
			return t, place, tree.ErrDatabase
		}
	}
	return t, place, nil
}

// walk reads names and sizes of all rows first, because rows come in any order, and a tree needs
// its directories before the files in them.
func (s *sqlarProducer) walk() (err error) {
	if s.table, s.place, err = sqlarTable(s.rx); err != nil {
		return err
	}
	rows, err := s.rows()
	if err != nil {
		return err
	}
	slices.SortStableFunc(rows, func(a, b sqlarRow) int { return tree.CompareNames(a.name, b.name) })
	for i := range rows {
		if err := s.entry(&rows[i]); err != nil {
			return tree.WrapEntry(rows[i].name, err)
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
			return nil, tree.WrapEntry(name, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// row reads a row without its data. It returns the name as it stands there, for an error.
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
	r.name, err = tree.CleanName(name)
	return r, name, err
}

func (s *sqlarProducer) entry(r *sqlarRow) error {
	if r.mode&posix.ModeType == 0 {
		r.mode |= posix.ModeRegular
	}
	e := &tree.Entry{Header: folio.Header{Name: r.name}}
	e.Mode, e.ModTime = posix.FileMode(r.mode), time.Unix(r.mtime, 0)
	e.UID, e.GID = posix.Owner()
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
		return tree.ErrType
	}
	return s.Add(e, nil)
}

// find returns the row with the data and the data's size.
func (s *sqlarProducer) find(r *sqlarRow) (row sqlitefile.Row, size int64, err error) {
	row, ok, err := s.table.Get(r.rowid)
	if err == nil && !ok {
		err = tree.ErrDamaged
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
		return nil, tree.ErrTarget
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

// file adds a regular file. Workers inflate small data, a stream large data.
func (s *sqlarProducer) file(e *tree.Entry, r *sqlarRow) error {
	if r.size < 0 || r.size > tree.MaxContent {
		return folio.ErrTooLarge
	}
	e.Size = r.size
	row, size, err := s.find(r)
	if err != nil {
		return err
	}
	if size > tree.SmallSize || e.Size > tree.SmallSize {
		return s.large(e, &row, size)
	}
	data := make([]byte, size)
	if err := s.readAt(&row, data, 0); err != nil {
		return err
	}
	return s.Add(e, sqlarData(data))
}

// large adds a large content from here, since only this goroutine may use the transaction.
func (s *sqlarProducer) large(e *tree.Entry, row *sqlitefile.Row, size int64) error {
	in := io.NewSectionReader(columnReader{row, s.place[4]}, 0, size)
	r, err := sqlarReader(in, size, e.Size)
	if err != nil {
		return err
	}
	return s.AddRead(e, r, archiveError)
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

func (d sqlarData) Fill(_ *tree.Entry, p []byte) error {
	r, err := sqlarReader(bytes.NewReader(d), int64(len(d)), int64(len(p)))
	if err == nil {
		err = archiveError(tree.ReadExactly(r, p))
	}
	return err
}

func (d sqlarData) Feed(s *tree.Stream) error { panic("source: a small content is no stream") }

func (d sqlarData) Drop() {}

// maxText is longer than any text that means something in place of a name, a number or a setting.
const maxText = 2 * tree.MaxPath // UTF-16 takes two bytes for one

// short refuses a row in which one of some columns is longer than it may be, without reading it. A
// text of a gigabyte would be in memory several times, and in the message of the error.
func short(row *sqlitefile.Row, columns ...int) error {
	for _, column := range columns {
		if size, err := row.Size(column); err != nil {
			return err
		} else if size > maxText {
			return fmt.Errorf("%w: a text of %d bytes", tree.ErrDamaged, size)
		}
	}
	return nil
}

// A columnReader reads a column of a row.
type columnReader struct {
	row    *sqlitefile.Row
	column int
}

func (c columnReader) ReadAt(p []byte, off int64) (int, error) { return c.row.ReadAt(c.column, p, off) }

// checkDatabase refuses a damaged database. Its pages have no checksums, and a database that has
// lost rows looks as if it never had them.
func checkDatabase(ctx context.Context, rx *sqlitefile.Rx) error {
	report, err := rx.Check(ctx, nil)
	if err != nil || report.OK() {
		return err
	}
	return fmt.Errorf("%w: %s", tree.ErrDamaged, report.Problems[0])
}
