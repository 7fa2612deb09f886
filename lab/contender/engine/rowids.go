package main

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/foliofs/folio/lab/workload/harness"
	"github.com/foliofs/folio/sqlitefile"
)

// rowids answers rowids out of one snapshot.
func rowids(path string, in io.Reader, out io.Writer) error {
	db, err := sqlitefile.Open(path, &sqlitefile.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(db.View(context.Background(), func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("folder_paths")
		if err != nil {
			return err
		}
		return harness.Rowids(in, out, func(id int64, w *bufio.Writer) error {
			row, ok, err := t.Get(id)
			if err != nil || !ok {
				return err
			}
			path, err := row.Bytes(1)
			if err != nil {
				return err
			}
			return harness.WriteRow(w, id, path)
		})
	}), db.Close())
}
