package mutated

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/internal/oracle/ours"
	"github.com/foliofs/folio/sqlitefile"
)

// An outcome is what one side says of something: its rows, or the class of its error.
type outcome struct {
	class string // "" for success
	why   string
	rows  int
	sum   string
}

func (o outcome) String() string {
	if o.class != "" {
		return o.class + " (" + o.why + ")"
	}
	return "ok"
}

// Result codes of C SQLite.
const (
	codeReadOnly   = 8
	codeConstraint = 19
)

// The classes of errors.
const (
	corrupt    = "corrupt"
	constraint = "constraint"
	readOnly   = "read-only"
	missing    = "no such table"
	otherwise  = "other"
)

// A verdict is what one side makes of an image.
type verdict struct {
	lenient   bool // C refused the schema, and was told to take it
	read      map[string]outcome
	check     []string
	unchecked []string // objects at which Check does not look beyond their pages, and why
	size      int64    // of the file after it was read and closed
	written   []outcome
	after     map[string]outcome // as C reads the file in the end
	sound     []string           // as C checks the file in the end
}

// onlyView reports whether C refuses the schema for the grammar of the view's SELECT. The engine
// looks at its tokens only, and says so.
func (v *verdict) onlyView() bool {
	why, view := strings.CutPrefix(v.check[0], "malformed database schema (v) - ")
	return view && (strings.HasSuffix(why, ": syntax error") || why == "incomplete input")
}

var wrongEntries = regexp.MustCompile(`^(?:row \d+ missing from|wrong # of entries in) index (\w+)$`)

// leavesOut reports whether all that C finds are entries of indexes that Check lists as unchecked.
func (v *verdict) leavesOut(found []string) bool {
	for _, problem := range found {
		m := wrongEntries.FindStringSubmatch(problem)
		listed := func(entry string) bool { return m != nil && strings.HasPrefix(entry, m[1]+": ") }
		if !slices.ContainsFunc(v.unchecked, listed) {
			return false
		}
	}
	return true
}

// columns are those of each table, but for the generated one.
var columns = map[string][]string{"t": {"id", "a", "b", "c"}, "k": {"a", "b", "c"}, "n": {"x", "y"}}

var order = []string{"t", "k", "n"}

func classOfC(err error) string {
	switch {
	case err == nil:
		return ""
	case strings.Contains(err.Error(), "no such table"):
		return missing
	}
	switch judge.Extended(err) & 0xff {
	case judge.CodeCorrupt, judge.CodeNotADB:
		return corrupt
	case codeConstraint:
		return constraint
	case codeReadOnly:
		return readOnly
	}
	if strings.Contains(err.Error(), "malformed") || strings.Contains(err.Error(), "not a database") {
		return corrupt
	}
	return otherwise
}

func classOfOurs(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, sqlitefile.ErrCorrupt), errors.Is(err, sqlitefile.ErrNotDatabase):
		return corrupt
	case errors.Is(err, sqlitefile.ErrConstraint):
		return constraint
	case errors.Is(err, sqlitefile.ErrReadOnly):
		return readOnly
	case errors.Is(err, sqlitefile.ErrNoTable):
		return missing
	}
	return otherwise
}

func failed(class string, err error) outcome { return outcome{class: class, why: err.Error()} }

// byC lets C read, check and write.
func byC(t *testing.T, path string) *verdict {
	v := &verdict{}
	c, err := judge.Open(path)
	switch {
	case err == nil:
		v.readByC(t, c)
		c.Close()
	case strings.Contains(err.Error(), "malformed database schema"):
		v.refuse(err)
		v.readLeniently(t, path)
	default:
		v.refuse(err)
	}
	v.size = sizeOf(path)
	v.written = writeByC(path)
	v.atEnd(t, path)
	return v
}

// refuse notes that the whole file was refused.
func (v *verdict) refuse(err error) {
	v.read = map[string]outcome{}
	for _, name := range order {
		v.read[name] = failed(classOfC(err), err)
	}
	v.check = []string{err.Error()}
}

func (v *verdict) readByC(t *testing.T, c *judge.Conn) {
	v.read = contentsByC(t, c)
	var err error
	if v.check, err = c.Strings(t.Context(), "PRAGMA integrity_check"); err != nil {
		v.check = append(v.check, err.Error())
	}
}

// readLeniently reads a database whose schema C refuses. It is copied to memory: the driver reads
// the schema of a file before it can be told to take it.
func (v *verdict) readLeniently(t *testing.T, path string) {
	if v.lenient = true; sizeOf(path+"-wal") > 0 {
		return
	}
	c, err := judge.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Deserialize(read(t, path)); err != nil {
		t.Fatal(err)
	}
	if c.Exec("PRAGMA writable_schema = ON") == nil {
		v.read = contentsByC(t, c)
	}
}

func writeByC(path string) (list []outcome) {
	c, err := judge.Open(path)
	if err == nil {
		defer c.Close()
		_ = c.Exec("PRAGMA synchronous = OFF")
	}
	for _, sql := range []string{
		"INSERT INTO t(a, b, c) VALUES('new', 'text', 3)",
		"INSERT INTO t(a, b, c) VALUES('00000000000000000011', 'text', 3)",
		"DELETE FROM t WHERE rowid = 13",
		"UPDATE t SET c = 'set' WHERE rowid = 22",
		"INSERT INTO k(a, b, c) VALUES('new', 2, 5000)",
		"DELETE FROM k WHERE a = '000000000000000000000000000017'",
		"INSERT INTO n(x, y) VALUES('new', hex(zeroblob(1000)))",
		"DELETE FROM t WHERE rowid BETWEEN 20 AND 36",
	} {
		e := err
		if e == nil {
			e = c.Exec(sql)
		}
		o := outcome{class: classOfC(e)}
		if e != nil {
			o.why = e.Error()
		}
		list = append(list, o)
	}
	return list
}

// atEnd lets C read the file that a side has left.
func (v *verdict) atEnd(t *testing.T, path string) {
	c, err := judge.Open(path)
	if err != nil {
		v.sound = []string{err.Error()}
		return
	}
	defer c.Close()
	v.after = contentsByC(t, c)
	if v.sound, err = c.Strings(t.Context(), "PRAGMA integrity_check"); err != nil {
		v.sound = append(v.sound, err.Error())
	}
}

func sizeOf(path string) int64 {
	s, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return s.Size()
}

func contentsByC(t *testing.T, c *judge.Conn) map[string]outcome {
	all := map[string]outcome{}
	for _, name := range order {
		exprs, from := columns[name], name+" NOT INDEXED"
		if name != "k" {
			exprs = append([]string{"rowid"}, exprs...)
		}
		d := judge.NewDigest()
		o := outcome{}
		for row, err := range c.Select(t.Context(), exprs, from) {
			if err != nil {
				o = failed(classOfC(err), err)
				break
			}
			rowid := int64(0)
			if name != "k" {
				rowid, row = row[0].Int, row[1:]
			}
			d.Row(rowid, row)
		}
		o.rows, o.sum = d.Rows, d.Sum()
		all[name] = o
	}
	return all
}

// byOurs lets the engine do the same.
func byOurs(t *testing.T, path string, plain bool) *verdict {
	v := &verdict{read: map[string]outcome{}}
	options := &sqlitefile.Options{Durability: sqlitefile.DurabilityOff, BusyTimeout: -1, NoMmap: plain}
	db, err := sqlitefile.Open(path, options)
	if err != nil {
		for _, name := range order {
			v.read[name] = failed(classOfOurs(err), err)
		}
		v.check = []string{err.Error()}
	} else {
		err := db.View(t.Context(), func(rx *sqlitefile.Rx) error {
			for _, name := range order {
				v.read[name] = readByOurs(rx, name)
			}
			return nil
		})
		if err != nil {
			for _, name := range order {
				v.read[name] = failed(classOfOurs(err), err)
			}
		}
		r, err := db.Check(t.Context(), nil)
		if err == nil {
			v.unchecked = r.Unchecked
		}
		switch {
		case err != nil:
			v.check = []string{err.Error()}
		case r.OK():
			v.check = []string{"ok"}
		default:
			for _, p := range r.Problems {
				v.check = append(v.check, p.String())
			}
		}
		_ = db.Close()
	}
	v.size = sizeOf(path)
	v.writeByOurs(t, path, options)
	v.atEnd(t, path)
	return v
}

func readByOurs(rx *sqlitefile.Rx, name string) outcome {
	d, o := judge.NewDigest(), outcome{}
	err := func() error {
		table, err := rx.Table(name)
		if err != nil {
			return err
		}
		all := table.Columns() // damage may have added some
		stored := func(i int) bool { return slices.Contains(columns[name], all[i].Name) }
		var values []judge.Value
		for row, err := range table.All() {
			if err != nil {
				return err
			}
			if values, err = ours.AppendRow(values[:0], &row, stored); err != nil {
				return err
			}
			rowid := int64(0)
			if name != "k" {
				rowid = row.Rowid()
			}
			d.Row(rowid, values)
		}
		return nil
	}()
	if err != nil {
		o = failed(classOfOurs(err), err)
	}
	o.rows, o.sum = d.Rows, d.Sum()
	return o
}

func (v *verdict) writeByOurs(t *testing.T, path string, options *sqlitefile.Options) {
	type writer = func(tx *sqlitefile.Tx) error
	on := func(table string, fn func(w sqlitefile.TableWriter) error) writer {
		return func(tx *sqlitefile.Tx) error {
			w, err := tx.Table(table)
			if err != nil {
				return err
			}
			return fn(w)
		}
	}
	writers := []writer{
		on("t", func(w sqlitefile.TableWriter) error { _, err := w.Insert(nil, "new", "text", 3); return err }),
		on("t", func(w sqlitefile.TableWriter) error {
			_, err := w.Insert(nil, "00000000000000000011", "text", 3)
			return err
		}),
		on("t", func(w sqlitefile.TableWriter) error { _, err := w.Delete(13); return err }),
		on("t", func(w sqlitefile.TableWriter) error { _, err := w.Set(22, 3, "set"); return err }),
		on("k", func(w sqlitefile.TableWriter) error { _, err := w.Insert("new", 2, 5000); return err }),
		on("k", func(w sqlitefile.TableWriter) error {
			_, err := w.DeleteKey("000000000000000000000000000017")
			return err
		}),
		on("n", func(w sqlitefile.TableWriter) error {
			_, err := w.Insert("new", strings.Repeat("00", 1000), nil)
			return err
		}),
		on("t", func(w sqlitefile.TableWriter) error { _, err := w.DeleteRange(20, 36); return err }),
	}
	db, err := sqlitefile.Open(path, options)
	if err == nil {
		defer db.Close()
	}
	for _, fn := range writers {
		if err == nil {
			e := db.Update(t.Context(), fn)
			o := outcome{class: classOfOurs(e)}
			if e != nil {
				o.why = e.Error()
			}
			v.written = append(v.written, o)
			continue
		}
		v.written = append(v.written, failed(classOfOurs(err), err))
	}
}
