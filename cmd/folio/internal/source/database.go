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
	switch _, _, err := sqlarTable(rx); {
	case err == nil:
		return &sqlarSource{db: db, o: o}, nil
	case !errors.Is(err, sqlitefile.ErrNoTable):
		return nil, err
	}
	_, err := rx.Table(agentInodes)
	if errors.Is(err, sqlitefile.ErrNoTable) {
		return nil, ErrDatabase
	}
	if err != nil {
		return nil, err
	}
	return openAgent(db, rx, o)
}

// checkDatabase refuses a damaged database. Its pages have no checksums, and a database that has
// lost rows looks as if it never had them.
func checkDatabase(ctx context.Context, rx *sqlitefile.Rx) error {
	report, err := rx.Check(ctx, nil)
	if err != nil || report.OK() {
		return err
	}
	return fmt.Errorf("%w: %s", ErrDamaged, report.Problems[0])
}
