package repair

import (
	"context"
	"fmt"
	"sync"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/check"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// A malformed is a row of sqlite_schema that keeps SQLite from opening the volume, or may.
type malformed struct {
	row    int // as Rx.Objects counts
	object sqlitefile.Object
	why    string
	parsed bool       // SQLite may open it, but its text is not the one of the format
	own    *ownObject // the object that the row should define, if that is known
}

// An ownObject is a table, a view or a trigger of a volume as docs/reference/format.md has it.
type ownObject struct{ typ, Name, table, sql string }

// OwnObjects lists the objects of store.Schema.
var OwnObjects = sync.OnceValue(func() (list []ownObject) {
	for _, sql := range store.Schema {
		if t, err := ddl.ParseTable(sql); err == nil {
			list = append(list, ownObject{"table", t.Name, t.Name, sql})
		} else if v, err := ddl.ParseView(sql); err == nil {
			list = append(list, ownObject{"view", v.Name, v.Name, sql})
		} else if t, err := ddl.ParseTrigger(sql); err == nil {
			list = append(list, ownObject{"trigger", t.Name, t.Table, sql})
		}
	}
	return list
})

// is reports whether a row describes an own object, one of whose name, table and text may be
// damaged. Damage does not change how long a text is.
func (x *ownObject) is(o *sqlitefile.Object) bool {
	same := 0
	for _, equal := range []bool{ddl.EqualFold(o.Name, x.Name), ddl.EqualFold(o.Table, x.table), len(o.SQL) == len(x.sql) && differences(o.SQL, x.sql) < len(x.sql)/2} {
		if equal {
			same++
		}
	}
	return same >= 2
}

// object returns the row of sqlite_schema.
func (x *ownObject) object(root uint32) sqlitefile.Object {
	return sqlitefile.Object{Type: x.typ, Name: x.Name, Table: x.table, Root: root, SQL: x.sql}
}

// differences returns how many bytes of two texts of the same length differ.
func differences(a, b string) (n int) {
	for i := range len(a) {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// findMalformed looks at all rows of sqlite_schema.
func findMalformed(rx *sqlitefile.Rx) (found []malformed, err error) {
	objects, err := rx.Objects()
	if err != nil {
		return nil, err
	}
	own := OwnObjects()
	for i := range objects {
		if m, bad := judgeObject(&objects[i], own); bad {
			m.row = i
			found = append(found, m)
		}
	}
	return found, nil
}

// judgeObject reports whether a row is malformed.
func judgeObject(o *sqlitefile.Object, own []ownObject) (m malformed, bad bool) {
	m.object = *o
	for i := range own {
		if own[i].is(o) {
			m.own = &own[i]
		}
		if o.SQL == own[i].sql && *o == own[i].object(o.Root) {
			return m, false
		}
	}
	switch err := o.Malformed(); {
	case err != nil:
		m.why = fmt.Sprintf("malformed database schema (%.100s): %v", o.Name, err)
	case m.own != nil && o.SQL != m.own.sql && len(o.SQL) == len(m.own.sql):
		m.why = fmt.Sprintf("the text of %s %s differs in %d bytes from that of the format", m.own.typ, m.own.Name, differences(o.SQL, m.own.sql))
		m.parsed = true
	default:
		return m, false
	}
	if m.own != nil && len(o.SQL) != len(m.own.sql) && m.own.typ == "table" {
		m.own = nil // it may have had further columns
	}
	return m, true
}

// CheckSchemaText refuses to write to a volume that SQLite may not be able to open, with the way
// out.
func CheckSchemaText(rx *sqlitefile.Rx) error {
	found, err := findMalformed(rx)
	if err != nil || len(found) == 0 {
		return err
	}
	if found[0].own == nil {
		return store.Damaged("%s; folio check --repair cannot tell what it was: change sqlite_schema in sqlite3", found[0].why)
	}
	return store.Damaged("%s; folio check --repair writes it again", found[0].why)
}

// Schema repairs the schema of the volume at path if Open fails because of it, and returns
// the repairs. It sets application_id and user_version if a dump lost them and the tables are those
// of a volume. If rows of sqlite_schema are damaged, it writes the tables and the view as
// docs/reference/format.md defines them. It writes nothing to a database that is not a volume.
// Errors are *fs.PathError with the path.
func Schema(ctx context.Context, path string) ([]store.Repair, error) {
	db, err := sqlitefile.Open(path, nil)
	if err != nil {
		return nil, rowstore.PathError(path, err)
	}
	defer db.Close()
	numbers, err := repairNumbers(ctx, db)
	if err != nil {
		return nil, rowstore.PathError(path, err)
	}
	rows, err := repairSchema(ctx, db)
	if err != nil {
		return numbers, rowstore.PathError(path, err)
	}
	return append(numbers, rows...), nil
}

// repairSchema writes damaged rows of sqlite_schema, and says which.
func repairSchema(ctx context.Context, db *sqlitefile.DB) (repairs []store.Repair, err error) {
	var found []malformed
	err = db.View(ctx, func(rx *sqlitefile.Rx) (err error) {
		found, err = findMalformed(rx)
		return err
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	err = db.Update(ctx, func(tx *sqlitefile.Tx) error {
		repairs = nil
		found, err := findMalformed(&tx.Rx)
		for _, m := range found {
			if err != nil || m.own == nil {
				continue
			}
			err = tx.ReplaceObject(m.row, m.own.object(m.object.Root))
			p := store.Problem{What: m.why}
			repairs = append(repairs, store.Repair{Problem: p, Done: fmt.Sprintf("%s %s written as the format has it", m.own.typ, m.own.Name)})
		}
		return err
	})
	return repairs, err
}

// Additions is check.Additions of the database.
func Additions(rx *sqlitefile.Rx) ([]string, error) {
	objects, err := objectsOf(rx)
	return check.Additions(objects), err
}

// objectsOf returns the rows of sqlite_schema.
func objectsOf(rx *sqlitefile.Rx) ([]check.Object, error) {
	objects, err := rx.Objects()
	list := make([]check.Object, len(objects))
	for i, o := range objects {
		list[i] = check.Object{Type: o.Type, Name: o.Name, Table: o.Table, SQL: o.SQL}
	}
	return list, err
}
