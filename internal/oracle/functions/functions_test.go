package functions

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/function"
	"github.com/foliofs/folio/internal/sql/value"
)

var (
	calls = flag.Int("functions.calls", 8_000, "calls of functions with random arguments to compare")
	seed  = flag.Uint64("functions.seed", 1, "of the random calls")
)

// compared are the functions that the build of the reference has, with a number of arguments.
var compared = []struct {
	name string
	args []kind
}{
	{"abs", any1},
	{"char", any1},
	{"char", any3},
	{"concat", any1},
	{"concat", any3},
	{"concat_ws", any3},
	{"glob", texts2},
	{"hex", any1},
	{"instr", any2},
	{"length", any1},
	{"like", texts2},
	{"lower", any1},
	{"ltrim", any1},
	{"ltrim", any2},
	{"octet_length", any1},
	{"quote", any1},
	{"replace", any3},
	{"round", any1},
	{"round", any2},
	{"rtrim", any2},
	{"sign", any1},
	{"substr", any2},
	{"substr", any3},
	{"trim", any2},
	{"typeof", any1},
	{"unhex", any1},
	{"unhex", any2},
	{"unicode", any1},
	{"unistr", any1},
	{"unistr_quote", any1},
	{"upper", any1},
	{"zeroblob", small},
	{"format", formatted},
	{"format", formatted},
	{"format", formatted},
	{"format", formatted},
	{"format", formatted},
	{"printf", formatted},
	{"printf", floated},
	{"printf", floated},
	{"printf", floated},
	{"printf", floated},
}

// A kind of argument.
type kind uint8

const (
	anything kind = iota
	text
	smallInt
	directive
	floatDirective
	float
)

var (
	any1, any2, any3 = []kind{anything}, []kind{anything, anything}, []kind{anything, anything, anything}
	texts2           = []kind{text, text}
	small            = []kind{smallInt}
	formatted        = []kind{directive, anything, anything, anything}
	floated          = []kind{floatDirective, float}
)

// TestFunctions calls functions with random arguments, and compares results and errors with those
// of C SQLite.
func TestFunctions(t *testing.T) {
	if !judge.Available {
		t.Skip("needs cgo")
	}
	c, err := judge.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := &random{rand.New(rand.NewPCG(*seed, 0))}
	differ, failed := 0, 0
	for n := range *calls {
		f := compared[n%len(compared)]
		args := make([]record.Value, len(f.args))
		for i, k := range f.args {
			args[i] = r.value(k)
		}
		ours, err := call(f.name, args)
		theirs, refused := ask(c, f.name, args)
		if refused != nil {
			failed++
		}
		if (err != nil) != (refused != nil) || err != nil && !strings.Contains(refused.Error(), err.Error()) || err == nil && !same(ours, theirs) {
			t.Errorf("%s(%s) = %v, %v; C SQLite: %v, %v", f.name, show(args), ours, err, theirs, refused)
			if differ++; differ > 20 {
				t.FailNow()
			}
		}
	}
	t.Logf("%d calls, %d of them errors, %d differ", *calls, failed, differ)
}

func call(name string, args []record.Value) (record.Value, error) {
	f, ok := function.Find(name)
	if !ok || len(args) < f.Least || f.Most >= 0 && len(args) > f.Most {
		return record.Value{}, fmt.Errorf("no function %s with %d arguments", name, len(args))
	}
	return f.Call(args)
}

// ask lets C SQLite call the function.
func ask(c *judge.Conn, name string, args []record.Value) (v judge.Value, err error) {
	params := make([]string, len(args))
	given := make([]any, len(args))
	for i, a := range args {
		params[i] = fmt.Sprintf("?%d", i+1)
		given[i] = a.Any()
	}
	for row, err := range c.Select(context.Background(), []string{name + "(" + strings.Join(params, ",") + ")"}, "(SELECT 1)", given...) {
		if err != nil {
			return v, err
		}
		v = row[0]
	}
	return v, nil
}

func same(a record.Value, b judge.Value) bool {
	return judge.Value{Kind: judge.Kind(a.Kind()), Int: a.Int64(), Real: a.Float64(), Bytes: a.Bytes()}.Equal(b)
}

func show(args []record.Value) string {
	var list []string
	for _, a := range args {
		list = append(list, fmt.Sprintf("%#v", a.Any()))
	}
	return strings.Join(list, ", ")
}

// random makes arguments.
type random struct{ *rand.Rand }

func (r *random) value(k kind) record.Value {
	switch k {
	case text:
		return record.OfText([]byte(r.text()))
	case smallInt:
		return record.OfInt(r.Int64N(50) - 5)
	case directive:
		if r.IntN(20) == 0 {
			return record.OfText([]byte(r.text()))
		}
		return record.OfText([]byte(r.format("diuoxXrcsqQwnpfeEgGz%k")))
	case floatDirective:
		return record.OfText([]byte(r.format("feEgG")))
	case float:
		return record.OfFloat(r.float())
	}
	switch r.IntN(9) {
	case 0:
		return record.Value{}
	case 1, 2:
		return record.OfInt(r.integer())
	case 3, 4:
		return record.OfFloat(r.float())
	case 5:
		return record.OfBlob([]byte(r.text()))
	}
	return record.OfText([]byte(r.text()))
}

func (r *random) integer() int64 {
	switch r.IntN(6) {
	case 0:
		return []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 31, -1 << 31, 1<<53 + 1, 9999999999999999}[r.IntN(9)]
	case 1:
		return r.Int64()
	case 2:
		return -r.Int64()
	}
	return r.Int64N(2000) - 1000
}

func (r *random) float() float64 {
	switch r.IntN(7) {
	case 0:
		return []float64{0, 1, -1, 0.5, 1.5, 2.5, -0.5, 1e15, 1e16, 1e17, 123456789012345680, 1e300, -1e-300, 5e-324, math.MaxFloat64, math.Inf(1), math.Inf(-1), 0.1, 9.995, 999999.5}[r.IntN(20)]
	case 1:
		f := math.Float64frombits(r.Uint64())
		if f == f {
			return f
		}
		return 7
	case 2:
		return float64(r.Int64N(2_000_000)-1_000_000) / 1000
	case 3:
		return float64(r.Int64N(2_000_000)-1_000_000) * math.Pow(10, float64(r.IntN(40)-20))
	}
	return r.NormFloat64() * 100
}

var words = []string{
	"", " ", "a", "abc", "ABC", "123", " 12 ", "-4.5e3", "1e999", "0x1F", "12abc", "\x00", "ab\x00cd", "é", "日本語", "\U0001f600",
	"\xff", "\xc3", "a\xe2\x82", "%", "_", "*", "?", "[a-c]", "[^x]", "a%c", "a*c", "''", "'", "\"", "\\", "\\u0041", "\\+01F600", "\\zz",
	"0a1B", "DEAD beef", "\n\t\x01", "9223372036854775807", "9223372036854775808", ".5", "+5.", "--", "xyzzy", "aaaa", "aaab",
}

func (r *random) text() string {
	var b strings.Builder
	for range 1 + r.IntN(3) {
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String()
}

// format makes a format with directives for some of the conversions.
func (r *random) format(conversions string) string {
	var b strings.Builder
	for range 1 + r.IntN(3) {
		b.WriteString([]string{"", "x", "é", " "}[r.IntN(4)])
		b.WriteByte('%')
		for r.IntN(2) == 0 {
			b.WriteByte("-+ #!0,"[r.IntN(7)])
		}
		if r.IntN(2) == 0 {
			b.WriteString([]string{"1", "5", "12", "30", "*"}[r.IntN(5)])
		}
		if r.IntN(2) == 0 {
			b.WriteString([]string{".", ".0", ".1", ".3", ".10", ".20", ".40", ".*"}[r.IntN(8)])
		}
		b.WriteString([]string{"", "", "", "l", "ll"}[r.IntN(5)])
		b.WriteByte(conversions[r.IntN(len(conversions))])
	}
	return b.String()
}

// aggregates are compared over random rows.
var aggregates = []string{"count(*)", "count(x)", "sum(x)", "total(x)", "avg(x)", "min(x)", "max(x)", "group_concat(x)", "group_concat(x, y)", "string_agg(x, y)", "max(x COLLATE NOCASE)"}

// TestAggregates compares aggregates over random rows.
func TestAggregates(t *testing.T) {
	if !judge.Available {
		t.Skip("needs cgo")
	}
	c, err := judge.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := &random{rand.New(rand.NewPCG(*seed, 1))}
	n := *calls / 10
	for i := range n {
		rows := r.rows()
		text := aggregates[i%len(aggregates)]
		ours, err := aggregate(text, rows)
		theirs, refused := askRows(c, text, rows)
		if (err != nil) != (refused != nil) || err != nil && !strings.Contains(refused.Error(), err.Error()) || err == nil && !same(ours, theirs) {
			t.Fatalf("%s of %s = %v, %v; C SQLite: %v, %v", text, show(rows), ours, err, theirs, refused)
		}
	}
	t.Logf("%d groups, 0 differ", n)
}

// rows makes up to 8 rows of two values, one after the other: all integers, all numbers, or any.
func (r *random) rows() (list []record.Value) {
	which := r.IntN(3)
	for range r.IntN(9) {
		x := record.OfInt(r.integer())
		if which > 0 {
			x = record.OfFloat(r.float())
		}
		if which == 2 || r.IntN(8) == 0 {
			x = r.value(anything)
		}
		list = append(list, x, r.value(text))
	}
	return list
}

func aggregate(text string, rows []record.Value) (record.Value, error) {
	name, rest, _ := strings.Cut(text, "(")
	order := value.NoCollation
	if strings.Contains(text, "NOCASE") {
		order = value.NoCase
	}
	args := strings.Count(rest, ",") + 1
	if rest == "*)" {
		args = 0
	}
	a := function.NewAggregate(name, args, order)
	for i := 0; i < len(rows); i += 2 {
		if err := a.Step(rows[i : i+args]); err != nil {
			return record.Value{}, err
		}
	}
	return a.Result()
}

func askRows(c *judge.Conn, text string, rows []record.Value) (v judge.Value, err error) {
	from := "(SELECT NULL AS x, NULL AS y WHERE 0"
	var given []any
	for i := 0; i < len(rows); i += 2 {
		from += fmt.Sprintf(" UNION ALL SELECT ?%d, ?%d", i+1, i+2)
		given = append(given, rows[i].Any(), rows[i+1].Any())
	}
	for row, err := range c.Select(context.Background(), []string{text}, from+")", given...) {
		if err != nil {
			return v, err
		}
		v = row[0]
	}
	return v, nil
}
