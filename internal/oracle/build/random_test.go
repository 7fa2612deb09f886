package build

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// A table is a random table: what creates it, and rows to try on it.
type table struct {
	columns      int
	keyed        bool // WITHOUT ROWID
	alias        int  // the column that is the rowid, or -1
	sql          []string
	indexes      []string // names of CREATE INDEX
	indexColumns []string // their first columns, with COLLATE
	rows         []row
}

// A row has the values for all columns. The last column, seq, is the row's number.
type row struct {
	rowid  int64
	values []any
}

var types = []string{
	"", "INT", "INTEGER", "TEXT", "BLOB", "REAL", "NUMERIC", "VARCHAR(20)", "DOUBLE", "DECIMAL(10,5)", "FLOATING POINT", "BOOLEAN", "CLOB",
}

var strictTypes = []string{"INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY"}

var collations = []string{"", "", "", " COLLATE NOCASE", " COLLATE RTRIM", " COLLATE BINARY"}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func maybe(r *rand.Rand, oneIn int, s string) string {
	if r.IntN(oneIn) == 0 {
		return s
	}
	return ""
}

// randomTable makes a table with up to 7 columns and seq.
func randomTable(r *rand.Rand, rows int) *table {
	t := &table{columns: 1 + r.IntN(7), alias: -1, keyed: r.IntN(3) == 0}
	strict := r.IntN(4) == 0
	var definitions []string
	kinds := types
	if strict {
		kinds = strictTypes
	}
	if !t.keyed && r.IntN(2) == 0 {
		t.alias = r.IntN(t.columns)
	}
	constraint := t.alias >= 0 && r.IntN(3) == 0
	for i := range t.columns {
		switch {
		case i == t.alias && constraint:
			definitions = append(definitions, fmt.Sprintf("c%d INTEGER", i))
			continue
		case i == t.alias:
			definitions = append(definitions, fmt.Sprintf("c%d INTEGER PRIMARY KEY%s", i, maybe(r, 3, " AUTOINCREMENT")))
			continue
		}
		definitions = append(definitions, fmt.Sprintf("c%d %s%s%s%s", i, pick(r, kinds), pick(r, collations), maybe(r, 4, " NOT NULL"), maybe(r, 8, " UNIQUE")))
	}
	definitions = append(definitions, "seq INTEGER")
	if r.IntN(4) == 0 {
		definitions = append(definitions, "UNIQUE("+terms(r, t.columns)+")")
	}
	switch {
	case t.keyed:
		definitions = append(definitions, "PRIMARY KEY("+terms(r, t.columns)+")")
	case t.alias < 0 && r.IntN(4) == 0:
		definitions = append(definitions, "PRIMARY KEY("+terms(r, t.columns)+", c0)") // two columns are never the rowid
	case constraint:
		definitions = append(definitions, fmt.Sprintf("PRIMARY KEY(c%d DESC)", t.alias))
	}
	var options []string
	if t.keyed {
		options = append(options, "WITHOUT ROWID")
	}
	if strict {
		options = append(options, "STRICT")
	}
	t.sql = append(t.sql, "CREATE TABLE t("+strings.Join(definitions, ", ")+") "+strings.Join(options, ", "))
	t.randomIndexes(r)
	t.randomRows(r, rows)
	return t
}

// terms makes one to three columns of a key.
func terms(r *rand.Rand, columns int) string {
	list := make([]string, 1+r.IntN(3))
	for i := range list {
		list[i] = fmt.Sprintf("c%d%s%s", r.IntN(columns), pick(r, collations), maybe(r, 3, " DESC"))
	}
	return strings.Join(list, ", ")
}

func (t *table) randomIndexes(r *rand.Rand) {
	for i := range r.IntN(4) {
		name, list := fmt.Sprint("i", i), terms(r, t.columns)
		t.sql = append(t.sql, fmt.Sprintf("CREATE %sINDEX %s ON t(%s)", maybe(r, 5, "UNIQUE "), name, list))
		t.indexes = append(t.indexes, name)
		term, _, _ := strings.Cut(list, ",")
		t.indexColumns = append(t.indexColumns, strings.TrimSuffix(term, " DESC"))
	}
}

func (t *table) randomRows(r *rand.Rand, n int) {
	rowid := int64(0)
	if r.IntN(4) == 0 {
		rowid = -5
	}
	spread := pick(r, []int{1, 10, 1 << 40})
	for i := range n {
		rowid += 1 + int64(r.IntN(spread))
		values := make([]any, t.columns+1)
		for c := range values {
			values[c] = randomValue(r, n)
		}
		if t.alias >= 0 {
			values[t.alias] = pick(r, []any{nil, rowid})
		}
		values[t.columns] = int64(i)
		t.rows = append(t.rows, row{rowid, values})
	}
}

// numeric are texts that are numbers, or nearly.
var numeric = []string{
	"12", " 12 ", "-0", "+7", "1e3", "1E-3", "0x10", "1.0", "5.", ".5", "-.5e1", "1e", "e1", ".", "", " ", "9223372036854775807", "9223372036854775808",
	"-9223372036854775808", "-9223372036854775809", "123456789012345", "1234567890123456789012", "1e400", "1_000", "12abc", "3.0e5", "\t12\n", "1 2", "0.1", "-1e-400",
}

var floats = []float64{
	0, math.Copysign(0, -1), 1, -1, 1.5, 0.1, 1.0 / 3, 100, 1e15, 1e16, 1e17, 123456789012345680, -2.5e-7, 1e300, 5e-324, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(),
	1 << 47, 1<<47 - 1, -1 << 47, -1<<47 - 1, 1 << 53, 9007199254740994, 1 << 62, 1 << 63, -1 << 63, 9223372036854774784, 49.47, 1e-5, 12345.678901234,
}

var integers = []int64{
	0, 1, -1, 2, 127, 128, -128, -129, 32767, 32768, -32769, 8388607, 8388608, 2147483647, 2147483648, 1<<47 - 1, 1 << 47, -1 << 47, -1<<47 - 1,
	1<<53 + 1, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1,
}

// randomValue makes a value of any type: often one that occurs again, rarely one that overflows its
// page.
func randomValue(r *rand.Rand, n int) any {
	switch r.IntN(14) {
	case 0:
		return nil
	case 1:
		return pick(r, integers)
	case 2, 3:
		return int64(r.IntN(4 * n))
	case 4:
		return pick(r, floats)
	case 5:
		return float64(r.IntN(1000)) / 8
	case 6:
		return float64(r.IntN(1e6)) / math.Pow10(r.IntN(20)) // few digits: TestFloatText has others
	case 7:
		return pick(r, numeric)
	case 8:
		return []byte(pick(r, numeric))
	case 9:
		return r.IntN(2) == 0
	case 10:
		return randomText(r, r.IntN(2000))
	case 11:
		return []byte(randomText(r, r.IntN(200)))
	}
	return randomText(r, r.IntN(20))
}

// randomText makes a text that is like others, but for case, spaces at the end, and zero bytes.
func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	b.WriteString(pick(r, []string{"", "p", "/data/", "/DATA/"}))
	for range n {
		b.WriteByte(pick(r, []byte("aAbBzZ_\xff")))
	}
	b.WriteString(pick(r, []string{"", "", "", " ", "  ", "x\x00", "x\x00y", "x\x00Y"}))
	return b.String()
}
