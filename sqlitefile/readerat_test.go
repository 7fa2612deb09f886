package sqlitefile_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/foliofs/folio/sqlitefile"
)

// ExampleOpenReaderAt reads a database that a program holds as bytes.
func ExampleOpenReaderAt() {
	file, done := people()
	defer done()
	var b bytes.Buffer
	must(file.Backup(ctx, &b))
	db, err := sqlitefile.OpenReaderAt(bytes.NewReader(b.Bytes()), int64(b.Len()), nil)
	must(err)
	defer db.Close()
	must(db.View(ctx, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("people")
		if err != nil {
			return err
		}
		row, _, err := t.Get(1)
		if err != nil {
			return err
		}
		name, err := row.Text(2)
		fmt.Println(name)
		return err
	}))
	err = db.Update(ctx, func(*sqlitefile.Tx) error { return nil })
	fmt.Println(errors.Is(err, sqlitefile.ErrReadOnly))
	// Output:
	// Ada
	// true
}
