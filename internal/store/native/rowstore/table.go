package rowstore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// The tables, as tx counts them.
const (
	NodeTable = iota
	EntryTable
	DataTable
	XattrTable
	OrphanTable
	OriginTable
	SnapshotTable // this and the following are store.HistoryTables
	NodeWasTable
	EntryWasTable
	DataWasTable
	BlockTable
	XattrWasTable
)

var TableNames = [...]string{"node", "entry", "data", "xattr", "orphan", "origin", "snapshot", "node_was", "entry_was", "data_was", "block", "xattr_was"}

// TableColumns is how many columns of them the format defines. Other programs may add columns
// behind them.
var TableColumns = [len(TableNames)]int{
	NodeColumns, EntryColumns, dataColumns, XattrColumns, orphanColumns, originColumns,
	SnapshotColumns, NodeWasColumns, EntryWasColumns, DataWasColumns, blockColumns, XattrWasColumns,
}

// CheckTables makes sure that the tables are there and their columns in the known order.
func CheckTables(tx *sqlitefile.Rx) error {
	if tx.Info().Encoding != "UTF-8" {
		return fmt.Errorf("%w: its text is in %s", store.ErrDamaged, tx.Info().Encoding)
	}
	shapes := TableShapes
	if tx.UserVersion() >= store.CloneVersion {
		shapes = append(slices.Clip(shapes), OriginShape)
	}
	for _, want := range shapes {
		t, err := tx.Table(want.Name)
		switch {
		case errors.Is(err, sqlitefile.ErrNoTable):
			return fmt.Errorf("%w: there is no table %s", store.ErrDamaged, want.Name)
		case err != nil:
			return err
		}
		if t.WithoutRowid() != want.withoutRowid || !HasColumns(t, want.Columns) {
			return fmt.Errorf("%w: table %s is not the one of a volume", store.ErrDamaged, want.Name)
		}
	}
	return nil
}

// A tableShape describes the properties of a table that a reader relies on. Further columns do no
// harm.
type tableShape struct {
	Name         string
	withoutRowid bool
	Columns      []string
}

var TableShapes = []tableShape{
	{"node", false, []string{"ino", "mode", "nlink", "uid", "gid", "size", "holes", "mtime_ns", "ctime_ns", "atime_ns", "rdev"}},
	{"entry", true, []string{"parent", "name", "ino", "type"}},
	{"data", false, []string{"id", "bytes"}},
	{"xattr", true, []string{"ino", "name", "value"}},
	{"orphan", false, []string{"ino"}},
}

// OriginShape is the table of store.CloneTables.
var OriginShape = tableShape{"origin", false, []string{"ino", "base", "chunks"}}

func HasColumns(t sqlitefile.Table, names []string) bool {
	columns := t.Columns()
	if len(columns) < len(names) {
		return false
	}
	for i, name := range names {
		if columns[i].Name != name {
			return false
		}
	}
	return true
}

// HistoryShapes are the tables of store.HistoryTables as a reader relies on them.
var HistoryShapes = []tableShape{
	{"snapshot", false, []string{"id", "name", "time_ns", "next"}},
	{"node_was", true, []string{"ino", "until", "mode", "nlink", "uid", "gid", "size", "holes", "mtime_ns", "ctime_ns", "atime_ns", "rdev"}},
	{"entry_was", true, []string{"parent", "name", "until", "ino", "type"}},
	{"data_was", true, []string{"id", "until", "block"}},
	{"block", false, []string{"id", "bytes"}},
	{"xattr_was", true, []string{"ino", "name", "until", "value"}},
}

// HasHistory reports whether a volume contains the tables of snapshots. Another program may have a
// table snapshot of its own.
func HasHistory(rx *sqlitefile.Rx) (bool, error) {
	for i, want := range HistoryShapes {
		t, err := rx.Table(want.Name)
		switch {
		case errors.Is(err, sqlitefile.ErrNoTable) && i == 0:
			return false, nil
		case errors.Is(err, sqlitefile.ErrNoTable):
			return false, store.Damaged("there is no table %s, which snapshots need", want.Name)
		case err != nil:
			return false, err
		case i == 0 && (t.WithoutRowid() || !HasColumns(t, want.Columns)):
			return false, nil
		case t.WithoutRowid() != want.withoutRowid || !HasColumns(t, want.Columns):
			return false, store.Damaged("table %s is not the one of snapshots", want.Name)
		}
	}
	return true, nil
}
