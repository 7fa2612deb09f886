package source

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/foliofs/folio/sqlitefile"
)

// openDatabase opens a database whose tables tell its kind. It opens the file again by the engine,
// and closes f.
func openDatabase(f *os.File, o *Options) (Source, error) {
	db, err := sqlitefile.Open(f.Name(), &sqlitefile.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	var src Source
	err = db.View(context.Background(), func(rx *sqlitefile.Rx) error {
		src, err = databaseSource(db, rx, o)
		return err
	})
	if err != nil {
		db.Close()
		return nil, pathError(f.Name(), err)
	}
	f.Close()
	return src, nil
}

func databaseSource(db *sqlitefile.DB, rx *sqlitefile.Rx, o *Options) (Source, error) {
	_, _, err := sqlarTable(rx)
	switch {
	case err == nil:
		return &sqlarSource{db: db, o: o}, nil
	case errors.Is(err, sqlitefile.ErrNoTable):
		return nil, ErrDatabase
	}
	return nil, err
}

// maxText is longer than any text that means something in place of a name, a number or a setting.
const maxText = 2 * maxPath // UTF-16 takes two bytes for one

// short refuses a row in which one of some columns is longer than it may be, without reading it. A
// text of a gigabyte would be in memory several times, and in the message of the error.
func short(row *sqlitefile.Row, columns ...int) error {
	for _, column := range columns {
		if size, err := row.Size(column); err != nil {
			return err
		} else if size > maxText {
			return fmt.Errorf("%w: a text of %d bytes", ErrDamaged, size)
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
	return fmt.Errorf("%w: %s", ErrDamaged, report.Problems[0])
}
