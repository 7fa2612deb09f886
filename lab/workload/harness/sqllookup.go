package harness

import (
	"errors"

	"github.com/foliofs/folio/lab/workload"
)

const (
	selectPath = "SELECT path FROM folder_paths WHERE id = ?"
	selectID   = "SELECT id FROM folder_paths WHERE path = ?"
)

var (
	textColumn = []workload.Kind{workload.Text}
	intColumn  = []workload.Kind{workload.Integer}
)

// makeFolder makes the database in one transaction. Its paths are inserted as they come, into a
// cache that holds the index.
func (d Driver) makeFolder(f *workload.Folder, path string, progress func(rows int)) (err error) {
	c, err := d.Open(path, Write)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, query := range []string{"PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -1000000"} {
		if _, err := text(c, query); err != nil {
			return err
		}
	}
	for _, query := range []string{workload.FolderSchema, "BEGIN"} {
		if err := exec(c, query); err != nil {
			return err
		}
	}
	s, err := c.Prepare("INSERT INTO folder_paths VALUES (?, ?)", nil)
	if err != nil {
		return err
	}
	for id := 1; id <= f.Rows; id++ {
		if err := s.Run([]workload.Value{workload.Int(int64(id)), workload.Str(f.Path(int64(id)))}, nil); err != nil {
			return errors.Join(err, s.Close())
		}
		if id%10000 == 0 {
			progress(id)
		}
	}
	return errors.Join(s.Close(), exec(c, "COMMIT"))
}

type sqlLookups struct {
	driver Driver
	db     string
	mmap   string // PRAGMA mmap_size; "0" leaves it as it is
}

func (d Driver) lookups(j *workload.Job) (workload.Lookups, error) {
	return &sqlLookups{d, j.DB, j.Values["mmap"]}, nil
}

func (l *sqlLookups) Close() error { return nil }

// Reader opens a connection.
func (l *sqlLookups) Reader(mode string) (workload.Reader, error) {
	c, err := l.driver.Open(l.db, Read)
	if err != nil {
		return nil, err
	}
	if l.mmap != "0" {
		if _, err := text(c, "PRAGMA mmap_size = "+l.mmap); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	r := &sqlReader{conn: c}
	r.takePath = func(row workload.Row) error { r.found++; r.buf = append(r.buf, row.Bytes(0)...); return nil }
	r.takeID = func(row workload.Row) error { r.found++; r.id = row.Int(0); return nil }
	if r.byID, err = newQuery(c, selectPath, textColumn, mode); err != nil {
		return nil, err
	}
	r.byPath, err = newQuery(c, selectID, intColumn, mode)
	return r, err
}

// A sqlReader is one connection. Its statements pass their results to two functions that are made
// once.
type sqlReader struct {
	conn             Conn
	byID, byPath     *sqlQuery
	args             [1]workload.Value
	found            int
	buf              []byte
	id               int64
	takePath, takeID func(workload.Row) error
}

var errNoRow = errors.New("no row")

func (r *sqlReader) Path(id int64, buf []byte) ([]byte, error) {
	r.args[0], r.buf = workload.Int(id), buf
	err := r.run(r.byID, r.takePath)
	return r.buf, err
}

func (r *sqlReader) ID(path string) (int64, error) {
	r.args[0] = workload.Str(path)
	err := r.run(r.byPath, r.takeID)
	return r.id, err
}

func (r *sqlReader) run(q *sqlQuery, row func(workload.Row) error) error {
	r.found = 0
	err := q.Query(r.args[:], row)
	if err == nil && r.found != 1 {
		err = errNoRow
	}
	return err
}

func (r *sqlReader) Begin() error { return exec(r.conn, "BEGIN") }

func (r *sqlReader) End() error { return exec(r.conn, "COMMIT") }

func (r *sqlReader) Settings() (map[string]string, error) { return readSettings(r.conn) }

func (r *sqlReader) Prepares() int64 { return r.byID.prepares + r.byPath.prepares }

func (r *sqlReader) Close() error {
	return errors.Join(r.byID.release(), r.byPath.release(), r.conn.Close())
}
