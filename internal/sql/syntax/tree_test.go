package syntax

import (
	"math"
	"slices"
	"testing"
)

// TestShape pins which operator binds first, by the parentheses that the printer writes.
func TestShape(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"a OR b AND c":                  "a OR ( b AND c )",
		"NOT a = b":                     "NOT ( a = b )",
		"a = NOT b = c":                 "a = ( NOT ( b = c ) )",
		"NOT a NOT NULL":                "NOT ( a IS NOT NULL )",
		"a + b * c || d":                "a + ( b * ( c || d ) )",
		"a - b - c":                     "( a - b ) - c",
		"a < b = c > d":                 "( a < b ) = ( c > d )",
		"a & b | c << d":                "( ( a & b ) | c ) << d",
		"-a COLLATE x":                  "( - a ) COLLATE x",
		"- + a":                         "- a",
		"a BETWEEN b AND c AND d":       "( a BETWEEN b AND c ) AND d",
		"a NOT BETWEEN b = 1 AND c":     "a NOT BETWEEN ( b = 1 ) AND c",
		"a LIKE b || c ESCAPE d = e":    "( a LIKE ( b || c ) ESCAPE d ) = e",
		"a NOT IN (1, 2) IS NULL":       "( a NOT IN ( 1, 2 ) ) IS NULL",
		"a IN main.t OR a IN f(1)":      "( a IN main.t ) OR ( a IN f ( 1 ) )",
		"a IS NOT DISTINCT FROM b":      "a IS b",
		"a -> 'x' ->> 1":                "( a -> 'x' ) ->> 1",
		"(a, b) = (SELECT 1, 2)":        "( a, b ) = ( SELECT 1, 2 )",
		"CASE a WHEN 1 THEN 2 ELSE END": "",
	} {
		e, err := ParseExpr(sql)
		got := ""
		if err == nil {
			got = e.String()
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", sql, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]int64{
		"0": 0, "9223372036854775807": math.MaxInt64, "0x10": 16, "0XffFFffffFFFFffff": -1,
		"0x000000000000000000001": 1, "1_000": 1000, "0x1_0": 16,
	} {
		if e, err := ParseExpr(sql); err != nil || e.Op != OpInteger || e.Int() != want || e.Oversized {
			t.Errorf("%s: %+v, %v, want %d", sql, e, err, want)
		}
	}
	for sql, want := range map[string]float64{
		"9223372036854775808": 9223372036854775808, "1.": 1, ".5": .5, "1e3": 1000, "1_0.0_1": 10.01,
		"9e999": math.Inf(1), "1E-400": 0,
	} {
		if e, err := ParseExpr(sql); err != nil || e.Op != OpFloat || e.Float() != want {
			t.Errorf("%s: %+v, %v, want %v", sql, e, err, want)
		}
	}
	if e, err := ParseExpr("0x10000000000000000"); err != nil || !e.Oversized {
		t.Errorf("a hexadecimal number of 17 digits: %+v, %v", e, err)
	}
	if e, err := ParseExpr("x'00fF'"); err != nil || !slices.Equal(e.Bytes(), []byte{0, 255}) {
		t.Errorf("a blob: %+v, %v", e, err)
	}
}

// TestParameters pins the numbers that parameters get.
func TestParameters(t *testing.T) {
	t.Parallel()
	p, err := Parse("SELECT ?, :a, ?7, ?, @a, :a, $b::c(d), ?2")
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int32
	Walk(p.Statement, func(n Node) bool {
		if e, ok := n.(*Expr); ok && e.Op == OpParameter {
			numbers = append(numbers, e.Number)
		}
		return true
	})
	if want := []int32{1, 2, 7, 8, 9, 2, 10, 2}; !slices.Equal(numbers, want) {
		t.Errorf("numbers %v, want %v", numbers, want)
	}
	if want := []Parameter{{":a", 2}, {"?7", 7}, {"@a", 9}, {"$b::c(d)", 10}}; !slices.Equal(p.Names, want) || p.Parameters != 10 {
		t.Errorf("names %v of %d, want %v", p.Names, p.Parameters, want)
	}
}

// TestTail reads a script statement by statement.
func TestTail(t *testing.T) {
	t.Parallel()
	const script = "; SELECT 1 ;; -- one\n CREATE TRIGGER r DELETE ON t BEGIN SELECT 2; END; 'x"
	var got []string
	rest := script
	for rest != "" {
		p, err := Parse(rest)
		if err != nil {
			got = append(got, err.Error())
			break
		}
		if p.Statement != nil {
			got = append(got, p.Statement.Bounds().Of(rest))
		}
		rest = rest[p.Tail:]
	}
	want := []string{"SELECT 1", "CREATE TRIGGER r DELETE ON t BEGIN SELECT 2; END", `unrecognized token: "'x"`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, empty := range []string{"", " -- x", ";;", "\x00SELECT", "/* open"} {
		if p, err := Parse(empty); err != nil || p.Statement != nil {
			t.Errorf("%q: %v, %v", empty, p, err)
		}
	}
}

// TestSpans pins the texts that SQLite keeps: names of results, and those in the schema.
func TestSpans(t *testing.T) {
	t.Parallel()
	const query = "SELECT ( a + 1 ), b AS c FROM t"
	p, err := Parse(query)
	if err != nil {
		t.Fatal(err)
	}
	columns := p.Statement.(*Select).Cores[0].Columns
	if got := columns[0].Of(query); got != "( a + 1 )" {
		t.Errorf("the first column is %q", got)
	}
	const table = "CREATE TABLE t(a unsigned /* x */ big INT ( 1 , 2) CHECK ( a>0 ) DEFAULT - 1, CHECK(a))"
	if p, err = Parse(table); err != nil {
		t.Fatal(err)
	}
	c := p.Statement.(*CreateTable).Columns[0]
	got := []string{c.TypeText, c.Constraints[0].Text.Of(table), c.Constraints[1].Text.Of(table)}
	if want := []string{"unsigned /* x */ big INT ( 1 , 2)", " a>0 ", "- 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]bool{
		"": false, ";": true, "SELECT 1": false, "SELECT 1;": true, "SELECT 1; -- x": true, "SELECT ';": false,
		"SELECT ';'; ": true, "SELECT 1; /* x": false, "SELECT 1; x": false, "SELECT [;": false, "SELECT [;];": true,
		"CREATE TRIGGER r DELETE ON t BEGIN SELECT 1;":      false,
		"CREATE TEMP TRIGGER r DELETE ON t BEGIN x; END;":   true,
		"EXPLAIN CREATE TRIGGER r DELETE ON t BEGIN x; end": false,
		"CREATE TABLE trigger(a); ":                         true,
	} {
		if got := Complete(sql); got != want {
			t.Errorf("%q: %t, want %t", sql, got, want)
		}
	}
}
