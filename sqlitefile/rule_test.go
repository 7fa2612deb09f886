package sqlitefile

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

const shopSchema = `
	CREATE TABLE users(id INTEGER PRIMARY KEY, email TEXT NOT NULL COLLATE NOCASE, active INTEGER NOT NULL DEFAULT 1, name TEXT,
		domain TEXT AS (substr(email, instr(email, '@') + 1)) VIRTUAL, label TEXT NOT NULL AS (coalesce(name, email)) STORED,
		CHECK (email LIKE '%_@_%'), CONSTRAINT flag CHECK (active IN (0, 1)));
	CREATE UNIQUE INDEX active_email ON users(email) WHERE active;
	CREATE INDEX by_domain ON users(domain, lower(label));
	CREATE TABLE orders(id INTEGER PRIMARY KEY, user INTEGER NOT NULL REFERENCES users(id), amount REAL CHECK (amount > 0), twice REAL AS (amount * 2));
	CREATE INDEX large ON orders(user, amount * 100) WHERE amount > 10`

// broken returns the constraint that an error is about.
func broken(err error) string {
	var e *ConstraintError
	if errors.As(err, &e) {
		return e.Error()
	}
	return fmt.Sprint(err)
}

// TestRules changes rows of tables with expressions in their schema.
func TestRules(t *testing.T) {
	t.Parallel()
	path := scripted(t, shopSchema)
	db := open(t, path, nil)
	update(t, db, func(tx *Tx) error {
		users, err := tx.Table("users")
		if err != nil {
			return err
		}
		orders, err := tx.Table("orders")
		if err != nil {
			return err
		}
		for _, c := range []struct {
			do   func() error
			want string
		}{
			{func() error { _, err := users.Insert(nil, "ann@example.com", 1, "Ann", nil, nil); return err }, "<nil>"},
			{func() error { _, err := users.Insert(nil, "nobody", 1, nil, nil, nil); return err }, "CHECK constraint failed: email LIKE '%_@_%'"},
			{func() error { _, err := users.Insert(nil, "bob@example.com", 2, nil, nil, nil); return err }, "CHECK constraint failed: flag"},
			{func() error { _, err := users.Insert(nil, "ANN@example.com", 1, nil, nil, nil); return err }, "UNIQUE constraint failed: users.email"},
			{func() error { _, err := users.Insert(nil, "ANN@example.com", 0, nil, nil, nil); return err }, "<nil>"},
			{func() error { _, err := users.Set(2, 2, 1); return err }, "UNIQUE constraint failed: users.email"},
			{func() error { _, err := users.Set(1, 2, 0); return err }, "<nil>"},
			{func() error { _, err := users.Set(2, 2, 1); return err }, "<nil>"},
			{func() error { _, err := users.Set(2, 3, "Anna"); return err }, "<nil>"},
			{func() error { _, err := users.Set(2, 4, "x"); return err }, "users.domain is a generated column, which cannot be set"},
			{func() error { return users.WriteAt(2, 5, []byte("x"), 0) }, "users.label is a generated column, which cannot be set"},
			{func() error { return users.WriteAt(1, 1, []byte("A"), 0) }, "<nil>"},
			{func() error { _, err := users.Insert(nil, "c@d", 1, nil, nil, "label"); return err }, "users.label is a generated column: its value must be given as nil"},
			{func() error { _, err := users.firstColumns(3).Insert(nil, "eve@sub.example.com", 1); return err }, "<nil>"},
			{func() error { _, err := orders.Insert(nil, 1, 12.5, nil); return err }, "<nil>"},
			{func() error { _, err := orders.Insert(nil, 99, nil, nil); return err }, "<nil>"},
			{func() error { _, err := orders.Insert(nil, 1, -1, nil); return err }, "CHECK constraint failed: amount > 0"},
			{func() error { _, err := orders.Set(1, 2, 8); return err }, "<nil>"},
			{func() error { _, err := orders.Set(1, 2, 100); return err }, "<nil>"},
		} {
			if err := c.do(); !strings.HasSuffix(broken(err), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		}
		return nil
	})
	view(t, db, func(rx *Rx) error {
		users, err := rx.Table("users")
		if err != nil {
			return err
		}
		row, _, err := users.Get(2)
		if err != nil {
			return err
		}
		var domain, label string
		if err := row.Scan(nil, nil, nil, nil, &domain, &label); err != nil || domain != "example.com" || label != "Anna" {
			t.Errorf("%q %q %v", domain, label, err)
		}
		if kind, err := row.Kind(4); kind != KindText || err != nil {
			t.Error(kind, err)
		}
		if n, err := row.Size(4); n != 11 || err != nil {
			t.Error(n, err)
		}
		p := make([]byte, 3)
		if n, err := row.ReadAt(4, p, 8); n != 3 || err != nil || string(p) != "com" {
			t.Error(n, err, string(p))
		}
		x, err := rx.Index("by_domain")
		if err != nil {
			return err
		}
		if rowid, ok, err := x.Find("sub.example.com", "eve@sub.example.com"); rowid != 3 || !ok || err != nil {
			t.Error(rowid, ok, err)
		}
		return nil
	})
	report, err := db.Check(t.Context(), nil)
	if err != nil || len(report.Problems) > 0 {
		t.Error(report.Problems, err)
	}
	checkShell(t, path, "PRAGMA integrity_check", "ok")
	checkShell(t, path, "SELECT group_concat(user || ':' || amount || ':' || twice, ' ') FROM orders WHERE amount > 10", "1:100.0:200.0")
}

// TestRulesOfRowid writes tables whose only expressions read the rowid, or nothing.
func TestRulesOfRowid(t *testing.T) {
	t.Parallel()
	path := scripted(t, `CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE UNIQUE INDEX large ON t(a) WHERE id > 5; CREATE INDEX none ON t(a) WHERE 0;
		CREATE TABLE u(a); CREATE INDEX odd ON u(a) WHERE rowid % 2; CREATE INDEX one ON u(1 + 1)`)
	db := open(t, path, nil)
	update(t, db, func(tx *Tx) error {
		for _, name := range []string{"t", "u"} {
			w, err := tx.Table(name)
			if err != nil {
				return err
			}
			for i := range int64(10) {
				row := []any{nil, i}
				if _, err := w.Insert(row[len(row)-len(w.Columns()):]...); err != nil {
					return err
				}
			}
			if ok, err := w.Set(6, len(w.Columns())-1, 1); !ok || err != nil {
				return fmt.Errorf("%v %w", ok, err)
			}
			_, err = w.Set(7, len(w.Columns())-1, 1)
			if want := map[string]string{"t": "UNIQUE constraint failed: t.a", "u": "<nil>"}[name]; broken(err) != want {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
			if _, err := w.DeleteRange(2, 8); err != nil {
				return err
			}
		}
		return nil
	})
	checkShell(t, path, "PRAGMA integrity_check", "ok")
	checkShell(t, path, "SELECT group_concat(a) FROM t INDEXED BY large WHERE id > 5", "8,9")
	checkShell(t, path, "SELECT group_concat(a) FROM u INDEXED BY odd WHERE rowid % 2", "0,8")
}

// TestRulesNotNeeded changes rows for which SQLite does not evaluate an expression that fails, nor
// check a rule that the row breaks.
func TestRulesNotNeeded(t *testing.T) {
	t.Parallel()
	path := scripted(t, `CREATE TABLE t(a, b, c); CREATE INDEX i ON t(abs(a)) WHERE b;
		CREATE TABLE u(a NOT NULL, b CHECK (b > 0), c, d AS (c + 1)); CREATE INDEX ui ON u(d);
		PRAGMA ignore_check_constraints = ON; INSERT INTO u VALUES(1, -1, 2), (2, 1, 2)`)
	db := open(t, path, nil)
	update(t, db, func(tx *Tx) error {
		w, err := tx.Table("t")
		if err != nil {
			return err
		}
		u, err := tx.Table("u")
		if err != nil {
			return err
		}
		for _, c := range []struct {
			do   func() error
			want string
		}{
			{func() error { _, err := w.Insert(int64(math.MinInt64), 0, 1); return err }, "<nil>"},
			{func() error { _, err := w.Insert(int64(math.MinInt64), 1, 1); return err }, "t: the index i: integer overflow"},
			{func() error { _, err := w.Set(1, 2, 5); return err }, "<nil>"},
			{func() error { _, err := w.Set(1, 1, 1); return err }, "t: the index i: integer overflow"},
			{func() error { _, err := w.Set(1, 0, 7); return err }, "<nil>"},
			{func() error { _, err := w.Set(1, 1, 1); return err }, "<nil>"},
			{func() error { _, err := u.Set(1, 2, 3); return err }, "<nil>"},
			{func() error { _, err := u.Set(1, 0, 3); return err }, "<nil>"},
			{func() error { _, err := u.Set(1, 0, nil); return err }, "NOT NULL constraint failed: u.a"},
			{func() error { _, err := u.Set(1, 1, -2); return err }, "CHECK constraint failed: b > 0"},
			{func() error { _, err := u.Update(1, 1, -2, 3, nil); return err }, "CHECK constraint failed: b > 0"},
			{func() error { _, err := u.Set(2, 1, -2); return err }, "CHECK constraint failed: b > 0"},
		} {
			if err := c.do(); broken(err) != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		}
		return nil
	})
	checkShell(t, path, "SELECT group_concat(abs(a)) FROM t INDEXED BY i WHERE b", "7")
	checkShell(t, path, "SELECT group_concat(d, ' ') FROM u INDEXED BY ui", "3 4")
}

// TestRulesRefused names what cannot be kept true.
func TestRulesRefused(t *testing.T) {
	t.Parallel()
	path := scripted(t, `CREATE TABLE a(x CHECK (x > random())); CREATE TABLE b(x, y AS (printf('%d', x))); CREATE TABLE c(x); CREATE INDEX ci ON c(json(x));
		CREATE TABLE d(x); CREATE INDEX di ON d(x) WHERE x > sqrt(2); INSERT INTO b VALUES(7)`)
	db := open(t, path, nil)
	update(t, db, func(tx *Tx) error {
		for name, want := range map[string]string{
			"a": "table a has CHECK (x > random()): the function random with 0 arguments",
			"b": "table b has the generated column y, AS (printf('%d', x)): the function printf with 2 arguments",
			"c": "table c has the index ci: the expression json(x): the function json with 1 arguments",
			"d": "table d has the index di: WHERE x > sqrt(2): the function sqrt with 1 arguments",
		} {
			if _, err := tx.Table(name); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
		b, err := tx.Rx.Table("b")
		if err != nil {
			return err
		}
		row, _, err := b.Get(1)
		if err != nil {
			return err
		}
		if _, err := row.Value(1); !errors.Is(err, ErrUnsupported) {
			t.Error(err)
		}
		v, err := row.Value(0)
		if v.Int64() != 7 {
			t.Error(v)
		}
		return err
	})
}
