package sqlitefile

import (
	"strings"
	"time"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/expr"
	"github.com/foliofs/folio/internal/record"
)

// An insertDefault is the value of a column that an insertion leaves out. The affinity of the
// column is yet to be applied to it.
type insertDefault struct {
	value  record.Value
	layout string // of the time of the insertion, in UTC, where that is the value
	known  bool   // false for an expression, which SQLite must evaluate
}

// insertDefaults returns the defaults of the columns of a table, for insertions.
func (rx *Rx) insertDefaults(t *ddl.Table) []insertDefault {
	defaults := make([]insertDefault, len(t.Columns))
	for i := range t.Columns {
		if i == t.RowidAlias {
			defaults[i].known = true // NULL stands for a new rowid, whatever DEFAULT says
			continue
		}
		defaults[i] = rx.insertDefault(t, &t.Columns[i].Default)
	}
	return defaults
}

func (rx *Rx) insertDefault(t *ddl.Table, d *ddl.Default) insertDefault {
	if v, ok := d.Inserted(); ok {
		return insertDefault{value: rx.defaultValue(&v), known: true}
	}
	layout := ""
	switch ddl.Fold(strings.Trim(d.Expr, "() \t\r\n\f")) {
	case "current_timestamp":
		layout = time.DateTime
	case "current_date":
		layout = time.DateOnly
	case "current_time":
		layout = time.TimeOnly
	}
	if layout == "" {
		return rx.computedDefault(t, d)
	}
	return insertDefault{layout: layout, known: true}
}

// computedDefault evaluates a default that is an expression, which refers to no column.
func (rx *Rx) computedDefault(t *ddl.Table, d *ddl.Default) insertDefault {
	x, err := rx.compile(d.Expr, t, expr.Generated)
	if err != nil || len(x.Columns()) > 0 {
		return insertDefault{}
	}
	v, err := x.Eval(nil)
	return insertDefault{value: v, known: err == nil}
}

// at returns the value at the time of an insertion.
func (d *insertDefault) at(rx *Rx) record.Value {
	if d.layout == "" {
		return d.value
	}
	return rx.textValue(time.Now().UTC().AppendFormat(nil, d.layout))
}
