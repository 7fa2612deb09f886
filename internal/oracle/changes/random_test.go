package changes

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/exec"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/sqlitefile"
)

var (
	programs = flag.Int("changes.programs", 60, "random programs")
	length   = flag.Int("changes.length", 60, "statements of each")
	seed     = flag.Uint64("changes.seed", 1, "of the first program")
	triggers = flag.Bool("changes.triggers", false, "make triggers, too")
	most     = flag.Int("changes.most", 5, "differences to show")
)

// An outcome is what a statement returns, and what is to be seen of it afterwards.
type outcome struct {
	err     string
	rows    []string
	changes int64
	last    int64
}

func (o outcome) String() string {
	if o.err != "" {
		return fmt.Sprintf("error: %s; last rowid %d", o.err, o.last)
	}
	return fmt.Sprintf("%d changes, last rowid %d, rows %q", o.changes, o.last, o.rows)
}

// ours runs statements by our engine.
type ours struct {
	db   *sqlitefile.DB
	last int64
}

var errRefused = errors.New("refused")

func (e *ours) run(sql string) (o outcome, err error) {
	defer func() { o.last = e.last }()
	p, failed := syntax.Parse(sql)
	if failed != nil {
		return outcome{err: failed.Error()}, nil
	}
	err = e.db.Update(context.Background(), func(tx *sqlitefile.Tx) error {
		switch p.Statement.(type) {
		case *syntax.Insert, *syntax.Update, *syntax.Delete:
		default:
			return tx.Exec(sql)
		}
		c, err := catalog.Read(&tx.Rx)
		if err != nil {
			return err
		}
		s, err := exec.CompileChange(c, sql, p)
		if err != nil {
			return err
		}
		defer s.Close()
		err = s.Run(tx, nil, nil)
		if s.Result.Inserted {
			e.last = s.Result.Rowid
		}
		o.changes, o.last = s.Result.Changes, e.last
		if err != nil {
			if exec.Fails(err) {
				o.err = err.Error()
				return nil // what was done before stays
			}
			return err
		}
		for {
			ok, err := s.Next()
			if !ok || err != nil {
				return err
			}
			o.rows = append(o.rows, format(s.Values()))
		}
	})
	if err != nil {
		if strings.HasPrefix(err.Error(), "not supported yet") || errors.Is(err, sqlitefile.ErrUnsupported) {
			return o, fmt.Errorf("%w: %w", errRefused, err)
		}
		o.err = err.Error()
		if errors.Is(err, sqlitefile.ErrFull) {
			o.err = "database or disk is full"
		}
		if i := strings.Index(o.err, "FOREIGN KEY constraint failed"); i >= 0 {
			o.err = "FOREIGN KEY constraint failed"
		}
	}
	return o, nil
}

func format(values []record.Value) string {
	var b strings.Builder
	for _, v := range values {
		switch v.Kind() {
		case record.Null:
			b.WriteString("NULL|")
		case record.Integer:
			fmt.Fprintf(&b, "%d|", v.Int())
		case record.Float:
			fmt.Fprintf(&b, "%.17g|", v.Float())
		case record.Text:
			fmt.Fprintf(&b, "%q|", v.Bytes())
		default:
			fmt.Fprintf(&b, "x%x|", v.Bytes())
		}
	}
	return b.String()
}

// theirs runs statements by C SQLite.
type theirs struct{ *judge.Conn }

func (e theirs) run(sql string) (o outcome) {
	for row, err := range e.Rows(context.Background(), sql) {
		if err != nil {
			o.err = err.Error()
			break
		}
		var b strings.Builder
		for _, v := range row {
			switch v := v.(type) {
			case nil:
				b.WriteString("NULL|")
			case int64:
				fmt.Fprintf(&b, "%d|", v)
			case float64:
				fmt.Fprintf(&b, "%.17g|", v)
			case string:
				fmt.Fprintf(&b, "%q|", v)
			case []byte:
				fmt.Fprintf(&b, "x%x|", v)
			}
		}
		o.rows = append(o.rows, b.String())
	}
	for row := range e.Rows(context.Background(), "SELECT changes(), last_insert_rowid()") {
		o.changes, o.last = row[0].(int64), row[1].(int64)
	}
	return o
}

// TestRandom runs random programs by both engines, and compares what each statement returns and
// changes, and the databases at the end.
func TestRandom(t *testing.T) {
	if !judge.Available {
		t.Skip("needs cgo")
	}
	run, failed, refused, differ := 0, 0, map[string]int{}, 0
	for n := range *programs {
		s := *seed + uint64(n)
		r, f, d := program(t, s, refused, *most-differ)
		run, failed, differ = run+r, failed+f, differ+d
	}
	t.Logf("%d statements, of which %d fail: %d differ; refused: %v", run, failed, differ, refused)
	if differ > 0 {
		t.Errorf("%d of %d statements differ", differ, run)
	}
}

func program(t *testing.T, seed uint64, refused map[string]int, show int) (run, failed, differ int) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 11))}
	dir := t.TempDir()
	foreign := seed%2 == 1
	db, err := sqlitefile.Open(filepath.Join(dir, "ours.db"), &sqlitefile.Options{Create: true, ForeignKeys: foreign, Durability: sqlitefile.DurabilityOff})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := judge.Open(filepath.Join(dir, "theirs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c, us := theirs{conn}, &ours{db: db}
	for _, sql := range []string{"PRAGMA synchronous=OFF", "PRAGMA journal_mode=MEMORY", fmt.Sprintf("PRAGMA foreign_keys=%v", foreign)} {
		if err := c.Exec(sql); err != nil {
			t.Fatal(err)
		}
	}
	var made []string
	for _, sql := range g.schema(*triggers) {
		want := c.run(sql)
		got, err := us.run(sql)
		switch {
		case err != nil:
			refused[err.Error()]++
			return 0, 0, 0
		case (got.err == "") != (want.err == ""):
			t.Errorf("seed %d: %s: %v; C: %v", seed, sql, got, want)
			return 0, 0, 1
		}
		made = append(made, sql)
	}
	for range *length {
		sql := g.statement(false)
		want := c.run(sql)
		got, err := us.run(sql)
		run++
		if err != nil {
			refused[err.Error()]++
			if want.err != "" {
				continue
			}
			return run, failed, differ // the databases are not the same any more
		}
		if want.err != "" {
			failed++
		}
		made = append(made, sql)
		if strings.HasPrefix(sql, "DELETE") && foreign {
			// To look for children C SQLite may make a number of a text, where RETURNING sees it.
			got.rows, want.rows = unquoted(got.rows), unquoted(want.rows)
		}
		if fmt.Sprint(got) == fmt.Sprint(want) && same(t, db, c) {
			continue
		}
		if differ++; differ <= show {
			t.Errorf("seed %d:\n%s;\nours: %v\n   C: %v", seed, strings.Join(made, ";\n"), got, want)
			if !same(t, db, c) {
				a, b := rowsOf(t, db, c)
				t.Errorf("the rows differ:\n%s\n%s", a, b)
			}
		}
		return run, failed, differ
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	check, err := judge.Open(filepath.Join(dir, "ours.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer check.Close()
	if list, err := check.Strings(context.Background(), "PRAGMA integrity_check"); err != nil || len(list) != 1 || list[0] != "ok" {
		differ++
		t.Errorf("seed %d: integrity_check: %v %v\n%s", seed, list, err, strings.Join(made, ";\n"))
	}
	return run, failed, differ
}

// rowsOf returns the rows of all tables, ours and theirs.
func rowsOf(t *testing.T, db *sqlitefile.DB, c theirs) (ours, want string) {
	t.Helper()
	err := db.View(context.Background(), func(rx *sqlitefile.Rx) error {
		objects, err := rx.Objects()
		if err != nil {
			return err
		}
		for _, o := range objects {
			if o.Type != "table" {
				continue
			}
			table, err := rx.Table(o.Name)
			if err != nil {
				return err
			}
			sql := fmt.Sprintf("SELECT rowid, * FROM %s ORDER BY rowid", o.Name)
			if table.WithoutRowid() {
				sql = fmt.Sprintf("SELECT * FROM %s ORDER BY 1", o.Name)
				for i := range table.Columns()[1:] {
					sql += fmt.Sprintf(", %d", i+2)
				}
			}
			got, err := rowsBy(rx, sql)
			if err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
			ours += o.Name + ":\n" + got
			want += o.Name + ":\n" + strings.Join(c.run(sql).rows, "\n") + "\n"
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return ours, want
}

func rowsBy(rx *sqlitefile.Rx, sql string) (string, error) {
	p, failed := syntax.Parse(sql)
	if failed != nil {
		return "", failed
	}
	c, err := catalog.Read(rx)
	if err != nil {
		return "", err
	}
	s, err := exec.Compile(c, sql, p)
	if err != nil {
		return "", err
	}
	defer s.Close()
	var list []string
	if err := s.Open(rx, nil, nil); err != nil {
		return "", err
	}
	for {
		ok, err := s.Next()
		if !ok || err != nil {
			return strings.Join(list, "\n") + "\n", err
		}
		list = append(list, format(s.Values()))
	}
}

func same(t *testing.T, db *sqlitefile.DB, c theirs) bool {
	t.Helper()
	got, want := rowsOf(t, db, c)
	return got == want
}

// unquoted returns rows without the quotes of their texts.
func unquoted(rows []string) (list []string) {
	for _, r := range rows {
		list = append(list, strings.ReplaceAll(r, `"`, ""))
	}
	return list
}
