package source

import (
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
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

var sqlarColumns = [5]string{"name", "mode", "mtime", "sz", "data"}

// openSqlar opens the database again by the engine, and closes f.
func openSqlar(f *os.File, o *Options) (Source, error) {
	db, err := sqlitefile.Open(f.Name(), &sqlitefile.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	err = db.View(context.Background(), func(rx *sqlitefile.Rx) error {
		_, err := openSqlarTable(rx)
		return err
	})
	if err != nil {
		db.Close()
		return nil, pathError(f.Name(), err)
	}
	f.Close()
	return &sqlarSource{db, o}, nil
}

func (s *sqlarSource) OnDisk() bool { return false }

func (s *sqlarSource) Size(context.Context) (int64, bool) { return 0, false }

func (s *sqlarSource) Close() error { return s.db.Close() }

// Walk lists the rows, and reads their data in the same transaction, which outlives the pipeline.
func (s *sqlarSource) Walk(ctx context.Context, fn func(*Entry) error) error {
	return s.db.View(ctx, func(rx *sqlitefile.Rx) error {
		files, err := sqlarFiles(ctx, rx)
		if err != nil {
			return err
		}
		return run(ctx, s.o, func(p *pipeline) error {
			for _, f := range files {
				if err := f.add(p); err != nil {
					return WrapEntry(f.name, err)
				}
			}
			return nil
		}, fn)
	})
}

// A sqlarTable is the table of an archive in a transaction.
type sqlarTable struct {
	sqlitefile.Table
	place [len(sqlarColumns)]int
	rx    *sqlitefile.Rx
	mu    sync.Mutex // guards rx and Table once workers read
}

func openSqlarTable(rx *sqlitefile.Rx) (*sqlarTable, error) {
	t := &sqlarTable{rx: rx}
	var err error
	t.Table, err = rx.Table("sqlar")
	for i, name := range sqlarColumns {
		if err == nil {
			t.place[i], err = t.Column(name)
		}
	}
	if errors.Is(err, sqlitefile.ErrNoTable) || errors.Is(err, sqlitefile.ErrNoColumn) || err == nil && t.WithoutRowid() {
		err = ErrDatabase
	}
	return t, err
}

// sqlarFiles returns the files of an archive in walk order. It refuses a damaged database: pages
// have no checksums, and a database that has lost rows looks as if it never had them.
func sqlarFiles(ctx context.Context, rx *sqlitefile.Rx) (files []*sqlarFile, err error) {
	report, err := rx.Check(ctx, nil)
	if err == nil && !report.OK() {
		err = fmt.Errorf("%w: %s", ErrDamaged, report.Problems[0])
	}
	if err != nil {
		return nil, err
	}
	t, err := openSqlarTable(rx)
	if err != nil {
		return nil, err
	}
	for row, err := range t.All() {
		if err != nil {
			return nil, err
		}
		f, err := t.file(&row)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	slices.SortStableFunc(files, func(a, b *sqlarFile) int { return compareNames(a.name, b.name) })
	return files, nil
}

// A sqlarFile is a row of an archive, without its data.
type sqlarFile struct {
	t                                *sqlarTable
	name                             string
	rowid, mode, mtime, size, stored int64 // stored is the size of the data
}

func (t *sqlarTable) file(row *sqlitefile.Row) (*sqlarFile, error) {
	f := &sqlarFile{t: t, rowid: row.Rowid()}
	name, err := row.Text(t.place[0])
	for i, n := range []*int64{&f.mode, &f.mtime, &f.size} {
		if err == nil {
			*n, err = row.Int64(t.place[1+i])
		}
	}
	if err == nil {
		f.stored, err = row.Size(t.place[4])
	}
	if err == nil {
		f.name, err = cleanName(name)
	}
	return f, WrapEntry(name, err)
}

func (f *sqlarFile) add(p *pipeline) error {
	e := &Entry{Header: header(f.name)}
	e.Mode, e.ModTime = posix.FileMode(uint32(f.mode)), time.Unix(f.mtime, 0)
	if f.mode&posix.ModeType == 0 {
		e.Mode &^= fs.ModeType
	}
	if p.o.Exclude.below(e.Name, e.Mode.IsDir()) {
		return nil
	}
	e.UID, e.GID = own()
	switch e.Mode.Type() {
	case 0:
		if f.size < 0 || f.size > maxArchivable {
			return folio.ErrTooLarge
		}
		e.Size = f.size
		return p.add(e, f)
	case fs.ModeSymlink:
		if f.stored > maxTarget {
			return ErrTarget
		}
		target := make([]byte, f.stored)
		if err := readExactly(f.data(), target); err != nil {
			return err
		}
		e.Linkname = string(target)
	case fs.ModeDir, fs.ModeNamedPipe:
	default: // a device has no number here
		return ErrType
	}
	return p.add(e, nil)
}

// open implements content.
func (f *sqlarFile) open(*Entry) (io.ReadCloser, error) {
	if f.stored == f.size {
		return io.NopCloser(f.data()), nil
	}
	return zlib.NewReader(f.data())
}

func (f *sqlarFile) data() io.Reader { return io.NewSectionReader(f, 0, f.stored) }

// ReadAt reads from the data, on any goroutine.
func (f *sqlarFile) ReadAt(p []byte, off int64) (n int, err error) {
	f.t.mu.Lock()
	defer f.t.mu.Unlock()
	err = f.t.rx.Guard(func() (err error) {
		n, _, err = f.t.Table.ReadAt(f.rowid, f.t.place[4], p, off)
		return err
	})
	return n, err
}
