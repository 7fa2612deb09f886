package native

import (
	"context"
	"errors"
	"iter"

	"github.com/foliofs/folio/sqlitefile"
	"github.com/foliofs/folio/store"
	"github.com/foliofs/folio/store/check"
)

// Check checks the database, and then the volume in it, as package check describes.
func (s *Store) Check(ctx context.Context) (*store.Report, error) {
	report := new(store.Report)
	err := s.db.View(ctx, func(tx *sqlitefile.Rx) error {
		if err := checkDatabase(ctx, tx, report); err != nil {
			return err
		}
		f := &feeder{ctx: ctx, tx: tx, report: report, checker: check.New(report)}
		return f.run()
	})
	if err != nil {
		return nil, err
	}
	return report, nil
}

// checkDatabase checks what is below the volume.
func checkDatabase(ctx context.Context, tx *sqlitefile.Rx, report *store.Report) error {
	r, err := tx.Check(ctx)
	if err != nil {
		return err
	}
	for _, p := range r.Problems {
		report.Add(store.Problem{What: p.String()})
	}
	return nil
}

// A feeder gives the rows of the tables to a checker.
type feeder struct {
	ctx     context.Context
	tx      *sqlitefile.Rx
	report  *store.Report
	checker *check.Checker
	rows    int // since ctx was looked at
}

func (f *feeder) run() error {
	steps := []struct {
		table string
		feed  func(row *sqlitefile.Row) error
	}{
		{"node", f.node}, {"entry", f.entry}, {"data", f.data}, {"xattr", f.xattr}, {"orphan", f.orphan},
	}
	for _, step := range steps {
		if _, err := f.tx.Table(step.table); step.table == "orphan" && errors.Is(err, sqlitefile.ErrNoTable) {
			continue
		}
		if err := f.table(step.table, step.feed); err != nil {
			return err
		}
	}
	f.checker.Finish()
	if err := f.checker.Paths(f.nameOf); err != nil {
		return f.unreadable("entry", err)
	}
	return nil
}

// table calls feed for each row. Corruption ends it: Check of the database has more to say of it.
func (f *feeder) table(name string, feed func(row *sqlitefile.Row) error) error {
	t, err := f.tx.Table(name)
	if err != nil {
		return f.unreadable(name, err)
	}
	for row, err := range t.All() {
		if err == nil {
			err = feed(&row)
		}
		if err == nil {
			err = f.alive()
		}
		if err != nil {
			return f.unreadable(name, err)
		}
	}
	return nil
}

// alive returns the error of the context, looking now and then.
func (f *feeder) alive() error {
	if f.rows++; f.rows%1024 != 0 {
		return nil
	}
	return f.ctx.Err()
}

// unreadable reports an error that lies in the database, and returns any other.
func (f *feeder) unreadable(table string, err error) error {
	if errors.Is(err, sqlitefile.ErrCorrupt) || errors.Is(err, sqlitefile.ErrNoTable) || errors.Is(err, sqlitefile.ErrUnsupported) {
		f.report.Add(store.Problem{What: "table " + table + ": " + err.Error()})
		return nil
	}
	return err
}

func (f *feeder) node(row *sqlitefile.Row) error {
	var n store.Node
	if err := decodeNode(row, &n); err != nil {
		return err
	}
	f.checker.Node(n)
	return nil
}

func (f *feeder) entry(row *sqlitefile.Row) error {
	var e rawEntry
	switch err := e.decode(row); {
	case errors.Is(err, store.ErrDamaged):
		f.report.Entries++
		f.checker.Damaged(e.parent, err)
	case err != nil:
		return err
	default:
		f.checker.Entry(e.parent, e.name, e.ino, int64(e.typ))
	}
	return nil
}

func (f *feeder) data(row *sqlitefile.Row) error {
	size, err := row.Size(dataBytes)
	if err == nil {
		f.checker.Data(row.Rowid(), size)
	}
	return err
}

func (f *feeder) xattr(row *sqlitefile.Row) error {
	var ino int64
	var name string
	err := row.Scan(&ino, &name)
	if err == nil {
		f.checker.Xattr(store.Ino(ino), name)
	}
	return err
}

func (f *feeder) orphan(row *sqlitefile.Row) error {
	f.checker.Orphan(store.Ino(row.Rowid()))
	return nil
}

// nameOf implements check.NameOf.
func (f *feeder) nameOf(dir, ino store.Ino) (string, error) {
	t, err := f.tx.Table("entry")
	if err != nil {
		return "", err
	}
	for e, err := range entries(t, dir) {
		if err != nil {
			return "", err
		}
		if e.ino == ino {
			return string(e.name), f.alive()
		}
	}
	return "", nil
}

// entries yields the entries of a directory that can be decoded.
func entries(t sqlitefile.Table, dir store.Ino) iter.Seq2[rawEntry, error] {
	return func(yield func(rawEntry, error) bool) {
		for row, err := range t.Prefix(int64(dir)) {
			var e rawEntry
			if err == nil {
				if err = e.decode(&row); errors.Is(err, store.ErrDamaged) {
					continue
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
