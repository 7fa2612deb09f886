package machine

import (
	"math"
	"strings"
)

// numeric are texts that are numbers, or nearly.
var numeric = []string{
	"12", " 12 ", "-0", "+7", "1e3", "0x10", "1.0", "5.", ".5", "1e", "e1", ".", "", " ", "9223372036854775807", "9223372036854775808", "123456789012345", "1e400", "12abc", "0.1",
}

var floats = []float64{
	0, math.Copysign(0, -1), 1, -1, 1.5, 0.1, 100, 1e15, 1e17, 1e300, 5e-324, math.Inf(1), math.Inf(-1), math.NaN(), 1 << 47, 1<<53 + 2, 1 << 62, 1 << 63, -1 << 63, 12345.678901234,
}

var integers = []int64{
	0, 1, -1, 2, 127, 128, -128, -129, 32767, 32768, -32769, 8388607, 8388608, 2147483647, 2147483648, 1<<47 - 1, 1 << 47, -1 << 47, 1<<53 + 1, math.MaxInt64, math.MinInt64,
}

// values draws a row of a table; the column that is the rowid is nil.
func (m *machine) values(t *table, long bool) []any {
	row := make([]any, len(t.columns))
	for i := range row {
		switch {
		case i == t.alias:
		case t.strict && m.random.IntN(12) > 0:
			row[i] = m.strictValue(t.columns[i].typ, long)
		default:
			row[i] = m.value(long)
		}
	}
	return row
}

// strictValue draws a value that a column of a STRICT table takes.
func (m *machine) strictValue(typ string, long bool) any {
	switch typ {
	case "INT", "INTEGER":
		return m.integer()
	case "REAL":
		return float64(m.random.IntN(1000)) / 8
	case "TEXT":
		return m.text(m.length(long))
	case "BLOB":
		return []byte(m.text(m.length(long)))
	}
	return m.value(long)
}

// value draws a value of any type: often one that occurs again.
func (m *machine) value(long bool) any {
	switch m.random.IntN(16) {
	case 0:
		return nil
	case 1, 2, 3, 4:
		return m.integer()
	case 5:
		return pick(m.random, floats)
	case 6:
		return float64(m.random.IntN(1000)) / 8
	case 7:
		return pick(m.random, numeric)
	case 8:
		return m.random.IntN(2) == 0
	case 9, 10:
		return []byte(m.text(m.length(long)))
	}
	return m.text(m.length(long))
}

func (m *machine) integer() int64 {
	switch m.random.IntN(8) {
	case 0:
		return pick(m.random, integers)
	case 1:
		return int64(m.random.Uint64()) >> m.random.IntN(64)
	}
	return int64(m.random.IntN(300))
}

// length draws how long a text is: mostly short, at times about as long as fits into a page, or
// longer.
func (m *machine) length(long bool) int {
	usable := m.setup.pageSize - m.setup.reserved
	if !long {
		return m.random.IntN(min(usable/8, 300))
	}
	switch m.random.IntN(12) {
	case 0:
		return m.random.IntN(min(6*usable, 100_000))
	case 1:
		return max(usable-60+m.random.IntN(60), 0)
	case 2:
		return usable/4 - 30 + m.random.IntN(40)
	case 3, 4:
		return m.random.IntN(usable / 4)
	}
	return m.random.IntN(20)
}

// text makes a text that resembles other texts, apart from case, spaces at the end, and zero bytes.
func (m *machine) text(n int) string {
	letters := []string{"a", "A", "b", "B", "z", "_", "é", "€", "\U0001F600"}
	if n > 40 {
		unit := pick(m.random, letters) + pick(m.random, letters[:4])
		return strings.Repeat(unit, n/len(unit)) + pick(m.random, []string{"", "x", "  "})
	}
	var b strings.Builder
	for range n % 8 {
		b.WriteString(pick(m.random, letters))
	}
	b.WriteString(pick(m.random, []string{"", "", "", " ", "  ", "x\x00", "x\x00y"}))
	return b.String()
}

// rowid draws a rowid that is probably in use.
func (m *machine) rowid() int64 {
	switch m.random.IntN(150) {
	case 0:
		m.edge = true
		return pick(m.random, []int64{math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, 1 << 40, -1})
	case 1, 2, 3:
		return int64(m.random.IntN(100_000))
	case 4, 5:
		return -int64(m.random.IntN(20))
	}
	return int64(m.random.IntN(250))
}
