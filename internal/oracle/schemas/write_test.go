package schemas

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/record"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/expr"
	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

var writeRows = flag.Int("schemas.rows", 5_000, "changes of rows to compare")

// A pair is the same database twice: one that C writes, and one that ours does.
type pair struct {
	*generator
	t      *testing.T
	table  *table
	path   string // of ours
	judge  *judge.Conn
	db     *sqlitefile.DB
	script []string
	done   int // changes that both accepted
}

// TestWrites makes random tables, changes their rows, and compares what is accepted and what is
// there afterwards.
func TestWrites(t *testing.T) {
	t.Parallel()
	newJudge(t)
	g := &generator{Rand: rand.New(rand.NewPCG(*seed, 2))}
	changes, accepted, tables := 0, 0, 0
	for changes < *writeRows && !t.Failed() {
		p := newPair(t, g, tables)
		if p == nil {
			continue
		}
		tables++
		changes += p.run(200)
		accepted += p.done
		p.close()
	}
	t.Logf("%d tables, %d changes, %d accepted by both", tables, changes, accepted)
}

// newPair makes a table in two databases, or nil if SQLite refuses it.
func newPair(t *testing.T, g *generator, n int) *pair {
	t.Helper()
	dir := filepath.Join(t.TempDir(), fmt.Sprint(n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	theirs := filepath.Join(dir, "theirs.db")
	p := &pair{generator: g, t: t, table: g.randomTable("t"), path: filepath.Join(dir, "ours.db")}
	c, err := judge.Open(theirs)
	if err != nil {
		t.Fatal(err)
	}
	p.judge = c
	p.must("PRAGMA synchronous = OFF; PRAGMA page_size = 1024")
	p.script = p.table.sql
	for _, sql := range p.script {
		if err := c.Exec(sql); err != nil {
			c.Close()
			p.refusedToo(sql, err)
			return nil
		}
	}
	lawless := g.IntN(4) == 0
	if lawless {
		p.breakChecks()
	}
	p.open(theirs, !lawless && g.IntN(2) == 0)
	return p
}

// breakChecks inserts rows for which a CHECK may be false.
func (p *pair) breakChecks() {
	p.must("PRAGMA ignore_check_constraints = ON")
	names := p.table.plainColumns()
	for range 10 {
		marks := strings.TrimSuffix(strings.Repeat("?,", len(names)), ",")
		_ = p.judge.Exec("INSERT INTO t("+strings.Join(names, ",")+") VALUES("+marks+")", p.table.plain(p.row(p.table, 40))...)
	}
	p.must("PRAGMA ignore_check_constraints = OFF")
}

// refusedToo wants ours to refuse a statement that SQLite has refused.
func (p *pair) refusedToo(sql string, why error) {
	p.t.Helper()
	db, err := sqlitefile.Open(p.path, &sqlitefile.Options{Create: true})
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	for _, s := range p.script {
		if err = db.Exec(p.t.Context(), s); err != nil || s == sql {
			break
		}
	}
	if err == nil {
		p.t.Errorf("SQLite: %v; ours makes it", why)
	}
}

// open lets ours have the same schema: by its own statements, or as a copy.
func (p *pair) open(theirs string, create bool) {
	p.t.Helper()
	if !create {
		image, err := os.ReadFile(theirs)
		if err == nil {
			err = os.WriteFile(p.path, image, 0o600)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
	var err error
	if p.db, err = sqlitefile.Open(p.path, &sqlitefile.Options{Create: true, PageSize: 1024, Durability: sqlitefile.DurabilityOff}); err != nil {
		p.t.Fatal(err)
	}
	if create {
		if err := p.db.Exec(p.t.Context(), strings.Join(p.script, ";")); err != nil {
			p.t.Fatalf("%s: %v", strings.Join(p.script, ";\n"), err)
		}
	}
}

func (p *pair) must(sql string, args ...any) {
	p.t.Helper()
	if err := p.judge.Exec(sql, args...); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pair) close() {
	p.judge.Close()
	if err := p.db.Close(); err != nil {
		p.t.Error(err)
	}
	os.RemoveAll(filepath.Dir(p.path))
}

// run makes n changes in a few transactions.
func (p *pair) run(n int) (changes int) {
	for changes < n && !p.t.Failed() {
		p.must("BEGIN")
		err := p.db.Update(p.t.Context(), func(tx *sqlitefile.Tx) error {
			t, err := tx.Table("t")
			for range n / 2 {
				if err == nil && !p.t.Failed() {
					p.change(t)
					changes++
				}
			}
			return err
		})
		if err != nil {
			p.t.Fatalf("%v\n%s", err, strings.Join(p.script, ";\n"))
		}
		p.must("COMMIT")
		p.compare()
		if p.IntN(2) == 0 {
			p.newIndex(changes)
		}
	}
	return changes
}

// newIndex makes an index on the rows that are there.
func (p *pair) newIndex(n int) {
	sql := p.table.index(fmt.Sprintf("late%d", n), "t", p.Rand)
	theirs, ours := p.judge.Exec(sql), p.db.Exec(p.t.Context(), sql)
	p.script = append(p.script, sql)
	if (theirs == nil) != (ours == nil) && !(theirs != nil && overflows(theirs)) && !(ours != nil && overflows(ours)) {
		p.failf("%s: SQLite: %v, ours: %v", sql, theirs, ours)
	}
	if theirs == nil && ours != nil {
		p.must("DROP INDEX late" + fmt.Sprint(n))
	}
}

func (p *pair) failf(format string, args ...any) {
	p.t.Helper()
	p.t.Errorf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(p.script, ";\n"))
}

// change makes one random change in both.
func (p *pair) change(t sqlitefile.TableWriter) {
	row := p.row(p.table, 40)
	if p.table.keyed {
		p.changeKey(t, row)
		return
	}
	rowid := int64(p.IntN(40))
	plain := p.table.plain(row)
	names, marks := strings.Join(p.table.plainColumns(), ","), strings.TrimSuffix(strings.Repeat("?,", len(plain)), ",")
	switch p.IntN(8) {
	case 0, 1, 2:
		_, err := t.Insert(row...)
		p.same(err, "INSERT INTO t("+names+") VALUES("+marks+")", plain...)
	case 3:
		if p.table.alias {
			plain = plain[1:]
			_, names, _ = strings.Cut(names, ",")
			marks = marks[2:]
		}
		err := t.InsertRowid(rowid, row...)
		p.same(err, "INSERT INTO t(rowid,"+names+") VALUES(?,"+marks+")", append([]any{rowid}, plain...)...)
	case 4:
		if p.table.alias {
			plain = plain[1:]
		}
		_, err := t.Update(rowid, row...)
		p.same(err, "UPDATE t SET "+p.assign()+" WHERE rowid = ?", append(slices.Clone(plain), rowid)...)
	case 5, 6:
		i := p.IntN(len(p.table.columns))
		if p.table.generated[i] || i == 0 && p.table.alias {
			return
		}
		_, err := t.Set(rowid, i, row[i])
		p.same(err, "UPDATE t SET "+p.table.columns[i]+" = ? WHERE rowid = ?", row[i], rowid)
	default:
		high := rowid + int64(p.IntN(3))
		_, err := t.DeleteRange(rowid, high)
		p.same(err, "DELETE FROM t WHERE rowid BETWEEN ? AND ?", rowid, high)
	}
}

// changeKey is change for a table WITHOUT ROWID.
func (p *pair) changeKey(t sqlitefile.TableWriter, row []any) {
	plain := p.table.plain(row)
	names, marks := strings.Join(p.table.plainColumns(), ","), strings.TrimSuffix(strings.Repeat("?,", len(plain)), ",")
	insert := "INSERT INTO t(" + names + ") VALUES(" + marks + ")"
	switch p.IntN(4) {
	case 0:
		_, err := t.Insert(row...)
		p.same(err, insert, plain...)
	case 1, 2:
		there, err := p.judge.Strings(p.t.Context(), "SELECT count(*) FROM t WHERE id = ?", row[0])
		if err != nil {
			p.t.Fatal(err)
		}
		err = t.PutKey(row...)
		if there[0] == "0" {
			p.same(err, insert, plain...)
		} else {
			p.same(err, "UPDATE t SET "+p.assign()+" WHERE id = ?", append(slices.Clone(plain), row[0])...)
		}
	default:
		key := row[0]
		if strings.Contains(p.script[0], "id INTEGER") {
			var i int64
			fmt.Sscan(key.(string), &i)
			key = i
		}
		_, err := t.DeleteKey(key)
		p.same(err, "DELETE FROM t WHERE id = ?", key)
	}
}

// assign is the list of all columns that are not generated, apart from the rowid, for UPDATE.
func (p *pair) assign() string {
	names := p.table.plainColumns()
	if p.table.alias {
		names = names[1:]
	}
	return strings.Join(names, " = ?, ") + " = ?"
}

// same runs a statement in C, and wants it to end as ours did.
func (p *pair) same(ours error, sql string, args ...any) {
	p.t.Helper()
	theirs := p.judge.Exec(sql, args...)
	if theirs == nil && ours == nil {
		p.done++
		return
	}
	if theirs != nil && ours != nil && (overflows(theirs) || overflows(ours)) {
		return
	}
	if got, want := kindOf(ours), judge.Extended(theirs); !slices.Contains(got, want) {
		p.failf("%s %q: SQLite: %v (%d), ours: %v", sql, args, theirs, want, ours)
	}
}

var constraintCodes = []int{
	judge.CodeConstraintType, judge.CodeConstraintNotNull, judge.CodeConstraintCheck,
	judge.CodeConstraintUnique, judge.CodeConstraintPrimary, judge.CodeConstraintRowid,
}

// kindOf returns the result codes that an error of ours may have in C.
func kindOf(err error) []int {
	var e *sqlitefile.ConstraintError
	switch {
	case err == nil:
		return []int{0}
	case !errors.As(err, &e):
		return []int{1}
	}
	switch e.Kind {
	case sqlitefile.ConstraintNotNull:
		return []int{judge.CodeConstraintNotNull, judge.CodeConstraintType}
	case sqlitefile.ConstraintStrict: // SQLite looks at types last: of a row that breaks two rules it names the other
		return constraintCodes
	case sqlitefile.ConstraintCheck:
		return []int{judge.CodeConstraintCheck}
	case sqlitefile.ConstraintForeignKey:
		return []int{judge.CodeConstraintForeignKey, judge.CodeConstraintTrigger} // RESTRICT is a trigger in C
	}
	return []int{judge.CodeConstraintUnique, judge.CodeConstraintPrimary, judge.CodeConstraintRowid}
}

// compare compares the two databases: C reads both, and ours reads its own.
func (p *pair) compare() {
	p.t.Helper()
	check, err := p.judge.Strings(p.t.Context(), "PRAGMA integrity_check")
	if err != nil || len(check) != 1 || check[0] != "ok" {
		p.t.Logf("SQLite's own: %q, %v", check, err)
	}
	report, err := p.db.Check(p.t.Context(), nil)
	if broken := !slices.Equal(check, []string{"ok"}); err != nil || len(report.Problems) > 0 != broken && len(report.Unchecked) == 0 {
		p.failf("Check: %v %v, SQLite: %q", report.Problems, err, check)
	}
	c, err := judge.Open(p.path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	ours, err := c.Strings(p.t.Context(), "PRAGMA integrity_check")
	if err != nil || !slices.Equal(ours, check) {
		p.failf("integrity_check of ours: %q, %v", ours, err)
	}
	want, got := p.contents(p.judge), p.contents(c)
	if !slices.Equal(want, got) {
		p.failf("contents differ:\n%s\nSQLite:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	p.read(want)
}

// contents returns the rows of the table, as C reads them.
func (p *pair) contents(c *judge.Conn) []string {
	p.t.Helper()
	var list []string
	for _, column := range p.table.columns {
		list = append(list, "typeof("+column+")||quote("+column+")")
	}
	order := "rowid"
	if p.table.keyed {
		order = "id"
	} else {
		list = append(list, "rowid")
	}
	rows, err := c.Strings(p.t.Context(), "SELECT "+strings.Join(list, "||'|'||")+" FROM t NOT INDEXED ORDER BY "+order)
	if err != nil {
		p.failf("%v", err)
	}
	return rows
}

// read reads the rows with ours, and compares them with those that C has read.
func (p *pair) read(want []string) {
	p.t.Helper()
	i := 0
	err := p.db.View(p.t.Context(), func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("t")
		if err != nil {
			return err
		}
		for row, err := range t.All() {
			if err != nil {
				return err
			}
			got, err := print(&row, p.table)
			if err != nil || i >= len(want) || got != want[i] {
				return fmt.Errorf("row %d: %s, %v", i, got, err)
			}
			i++
		}
		return nil
	})
	if err != nil || i != len(want) {
		p.failf("%d rows of %d: %v\n%s", i, len(want), err, strings.Join(want, "\n"))
	}
}

// print returns a row as contents does.
func print(row *sqlitefile.Row, t *table) (string, error) {
	var list []string
	for i := range t.columns {
		v, err := row.Value(i)
		if err != nil {
			return "", err
		}
		list = append(list, quoted(v))
	}
	if !t.keyed {
		list = append(list, fmt.Sprint(row.Rowid()))
	}
	return strings.Join(list, "|"), nil
}

// quoted returns a value as typeof(x)||quote(x).
func quoted(v sqlitefile.Value) string {
	x := record.Value{}
	switch v.Kind() {
	case sqlitefile.KindInteger:
		x = record.OfInt(v.Int64())
	case sqlitefile.KindFloat:
		x = record.OfFloat(v.Float64())
	case sqlitefile.KindText:
		x = record.OfText([]byte(v.Text()))
	case sqlitefile.KindBlob:
		x = record.OfBlob(v.Bytes())
	}
	table, _ := ddl.ParseTable("CREATE TABLE t(a)")
	q, err := expr.Compile("typeof(a) || quote(a)", table, expr.Check)
	if err != nil {
		return err.Error()
	}
	s, _ := q.Eval(rowOf{x})
	return string(s.Bytes())
}
