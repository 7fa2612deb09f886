package repair

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/check"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// Check checks the database, and then the volume in it, as package check describes. It fills
// in the paths of repairs.
func Check(ctx context.Context, db *sqlitefile.DB, o *sqlitefile.CheckOptions, repairs []store.Repair) (*store.Report, error) {
	report := new(store.Report)
	err := db.View(ctx, func(tx *sqlitefile.Rx) error {
		if err := checkDatabase(ctx, tx, o, report); err != nil {
			return err
		}
		c := newChecker(ctx, tx, report)
		for i := range repairs {
			c.wanted = append(c.wanted, repairs[i].Ino)
		}
		err := cmp.Or(c.schema(), c.windows(), c.unreadable("sqlite_schema", cmp.Or(c.described(), c.views())), c.history())
		for i := range report.Problems {
			err = cmp.Or(err, c.setPath(&report.Problems[i]))
		}
		for i := range repairs {
			err = cmp.Or(err, c.setPath(&repairs[i].Problem))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return report, nil
}

// checkDatabase checks the database below the volume.
func checkDatabase(ctx context.Context, tx *sqlitefile.Rx, o *sqlitefile.CheckOptions, report *store.Report) error {
	r, err := tx.Check(ctx, o)
	if err != nil {
		return err
	}
	for _, p := range r.Problems {
		report.Add(store.Problem{What: p.String()})
	}
	return nil
}

// A checker feeds the rows of the tables to one of package check.
type checker struct {
	*check.Checker
	ctx    context.Context
	tx     *sqlitefile.Rx
	report *store.Report
	wanted []store.Ino // paths are wanted of these, too
	rows   int         // since ctx was looked at
}

func newChecker(ctx context.Context, tx *sqlitefile.Rx, report *store.Report) *checker {
	return &checker{Checker: check.New(report), ctx: ctx, tx: tx, report: report}
}

// schema looks for objects that other programs have added to the tables.
func (c *checker) schema() error {
	found, err := findMalformed(c.tx)
	for _, m := range found {
		if m.parsed && m.own.typ == "table" { // Check of the database reports objects that SQLite cannot read, and views the others
			c.report.Add(store.Problem{What: m.why})
		}
	}
	if err != nil {
		return c.unreadable("sqlite_schema", err)
	}
	added, err := Additions(c.tx)
	for _, what := range added {
		c.report.Add(store.Problem{What: what})
	}
	return c.unreadable("sqlite_schema", err)
}

// survey looks at all tables, and all inodes at once.
func (c *checker) survey() error {
	steps := []struct {
		table string
		feed  func(row *sqlitefile.Row) error
	}{
		{"node", c.node}, {"entry", c.entry}, {"origin", c.origin}, {"data", c.data}, {"xattr", c.xattr}, {"orphan", c.orphan},
	}
	for _, step := range steps {
		if c.without(step.table) {
			continue
		}
		if err := c.table(step.table, step.feed); err != nil {
			return err
		}
	}
	c.Finish()
	return nil
}

// without reports whether a volume has no table of that name, and needs none.
func (c *checker) without(table string) bool {
	if table != "origin" {
		return false
	}
	if !(rowstore.Rx{Engine: c.tx}).HasClones() {
		return true
	}
	_, err := c.tx.Table(table)
	return errors.Is(err, sqlitefile.ErrNoTable)
}

// table calls feed for each row. Corruption ends it: Check of the database has more to say of it.
func (c *checker) table(name string, feed func(row *sqlitefile.Row) error) error {
	t, err := c.tx.Table(name)
	if err != nil {
		return c.unreadable(name, err)
	}
	return c.feed(name, t.All(), feed)
}

// errEnough is returned by a feed that needs no more rows.
var errEnough = errors.New("enough")

// feed calls fn for each row.
func (c *checker) feed(name string, rows iter.Seq2[sqlitefile.Row, error], fn func(row *sqlitefile.Row) error) error {
	var row sqlitefile.Row // one for all, as fn may be anything
	for r, err := range rows {
		if row = r; err == nil {
			err = fn(&row)
		}
		if err == nil {
			err = c.alive()
		}
		switch {
		case err == errEnough:
			return nil
		case err != nil:
			return c.unreadable(name, err)
		}
	}
	return nil
}

// alive returns the error of the context, looking now and then.
func (c *checker) alive() error {
	if c.rows++; c.rows%1024 != 0 {
		return nil
	}
	return c.ctx.Err()
}

// unreadable reports an error that lies in the database, and returns any other.
func (c *checker) unreadable(table string, err error) error {
	if errors.Is(err, sqlitefile.ErrCorrupt) || errors.Is(err, sqlitefile.ErrNoTable) || errors.Is(err, sqlitefile.ErrUnsupported) {
		p := store.Problem{What: "table " + table + ": " + err.Error()}
		if !slices.Contains(c.report.Problems, p) { // another window saw it
			c.report.Add(p)
		}
		return nil
	}
	return err
}

func (c *checker) node(row *sqlitefile.Row) error {
	var v [rowstore.NodeColumns]sqlitefile.Value
	if err := row.ValuesUpTo(rowstore.MaxNumber, v[:]); err != nil {
		return err
	}
	ino := store.Ino(row.Rowid())
	raw, odd := rowstore.NodeRow(&v)
	for i := range v {
		if v[i].Kind() != sqlitefile.KindInteger {
			c.Odd(ino, "node", rowstore.TableShapes[rowstore.NodeTable].Columns[i], v[i].Kind().String())
		}
	}
	c.Node(ino, &raw, odd)
	return nil
}

func (c *checker) entry(row *sqlitefile.Row) error {
	var e rowstore.RawEntry
	switch err := e.Decode(row); {
	case errors.Is(err, store.ErrDamaged):
		if c.Has(e.Parent) {
			c.report.Entries++
			c.Damaged(e.Parent, err)
		}
	case err != nil:
		return err
	default:
		c.Entry(e.Parent, e.Name, e.Ino, int64(e.Type))
	}
	return nil
}

func (c *checker) data(row *sqlitefile.Row) error {
	size, err := row.Size(rowstore.DataBytes)
	if err != nil {
		return err
	}
	c.Data(row.Rowid(), size)
	return c.kinds(store.Ino(row.Rowid()>>store.ChunkBits), rowstore.DataTable, row, sqlitefile.KindInteger, sqlitefile.KindBlob)
}

// kinds reports the columns of a row about an inode that hold values of other kinds than they must.
func (c *checker) kinds(ino store.Ino, table int, row *sqlitefile.Row, want ...sqlitefile.Kind) error {
	for i, kind := range want {
		is, err := row.Kind(i)
		if err != nil {
			return err
		}
		if is != kind {
			c.Odd(ino, rowstore.TableNames[table], rowstore.TableShapes[table].Columns[i], is.String())
		}
	}
	return nil
}

func (c *checker) xattr(row *sqlitefile.Row) error {
	var v [rowstore.XattrColumns - 1]sqlitefile.Value
	if err := row.ValuesUpTo(store.MaxXattrName+1, v[:]); err != nil {
		return err
	}
	size, err := row.Size(rowstore.XattrValue)
	if err != nil {
		return err
	}
	ino := v[0].Int64()
	c.Xattr(store.Ino(ino), v[rowstore.XattrName].Bytes(), size)
	return c.kinds(store.Ino(ino), rowstore.XattrTable, row, sqlitefile.KindInteger, sqlitefile.KindText, sqlitefile.KindBlob)
}

func (c *checker) orphan(row *sqlitefile.Row) error {
	c.Orphan(store.Ino(row.Rowid()))
	return nil
}

// setPath fills in the path of a problem.
func (c *checker) setPath(p *store.Problem) error {
	if err := c.SetPath(p, c.nameOf); err != nil {
		return c.unreadable("entry", err)
	}
	return nil
}

// nameOf implements check.NameOf.
func (c *checker) nameOf(dir, ino store.Ino) (string, error) {
	t, err := c.tx.Table("entry")
	if err != nil {
		return "", err
	}
	for e, err := range entries(t, dir) {
		if err != nil {
			return "", err
		}
		if e.Ino == ino {
			return string(e.Name), c.alive()
		}
	}
	return "", nil
}

// entries yields the entries of a directory that can be decoded.
func entries(t sqlitefile.Table, dir store.Ino) iter.Seq2[rowstore.RawEntry, error] {
	return func(yield func(rowstore.RawEntry, error) bool) {
		for row, err := range t.Prefix(int64(dir)) {
			var e rowstore.RawEntry
			if err == nil {
				if err = e.Decode(&row); errors.Is(err, store.ErrDamaged) {
					continue
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
