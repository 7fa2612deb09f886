package sqlitefile

import (
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/record"
)

// namedColumns are the columns that the values of a TableWriter are for.
type namedColumns struct {
	places []int // in the order of the values
}

// Named returns a writer of the same table that takes the values of the named columns only, in this
// order. For example:
//
//	tasks, err := tx.Table("task")
//	...
//	task, err := tasks.Named("status", "payload")
//	...
//	id, err := task.Insert("pending", payload)
//	ok, err := task.Update(id, "done", nil)
//
// A new row gets the defaults of the other columns, as INSERT gives them, or a new rowid if the
// INTEGER PRIMARY KEY is one of them. CURRENT_TIME, CURRENT_DATE and CURRENT_TIMESTAMP are the time
// of each insertion. A row that is there keeps its values of the other columns. So a program is not
// disturbed if ALTER TABLE adds a column. Set and WriteAt still count the columns of the table.
//
// Without names, Insert adds a row of defaults, as DEFAULT VALUES does. The error matches
// [ErrNoColumn] if the table has no such column. It is an error to name a column twice, or a
// generated one. Insert returns an error that matches [ErrUnsupported] if a default is an
// expression with a function that the engine does not know, such as random().
func (t TableWriter) Named(columns ...string) (TableWriter, error) {
	places := make([]int, len(columns))
	for i, name := range columns {
		at, err := t.Column(name)
		switch {
		case err != nil:
		case t.def.ddl.Columns[at].Generated != nil:
			err = fmt.Errorf("%s.%s is a generated column, which cannot be set", t.Name(), name)
		case slices.Contains(places[:i], at):
			err = fmt.Errorf("%s.%s is named twice", t.Name(), name)
		}
		if err != nil {
			return TableWriter{}, t.tx.db.pager.PathError("write", err)
		}
		places[i] = at
	}
	t.named = &namedColumns{places}
	return t, nil
}

// partial reports whether values are given for a part of the columns.
func (t *TableWriter) partial() bool { return t.first != 0 || t.named != nil }

// completeNamed is complete for the columns of Named.
func (t TableWriter) completeNamed(row *Row, values []any) ([]any, error) {
	shape, places := &t.def.shape, t.named.places
	if len(values) != len(places) {
		return nil, fmt.Errorf("table %s: %d values were given for %d columns", shape.name, len(values), len(places))
	}
	all := make([]any, len(shape.fields))
	for i, at := range places {
		all[at] = own(values[i])
	}
	for i := range all {
		if slices.Contains(places, i) {
			continue
		}
		v, err := t.further(row, i)
		if err != nil {
			return nil, err
		}
		if v.Kind() != record.Null {
			all[i] = v
		}
	}
	return all, nil
}
