package ddl

import (
	"fmt"
	"math"
	"testing"

	"github.com/foliofs/folio/internal/record"
)

// describe writes the value of a default.
func (d Default) describe() string {
	v := d.Value
	switch {
	case d.Kind == DefaultNone:
		return "none"
	case d.Kind == DefaultExpr:
		return "expr " + d.Expr
	case v.Kind() == record.Integer:
		return fmt.Sprint("int ", v.Int())
	case v.Kind() == record.Float:
		return fmt.Sprint("real ", v.Float())
	case v.Kind() == record.Text:
		return fmt.Sprintf("text %q", v.Bytes())
	case v.Kind() == record.Blob:
		return fmt.Sprintf("blob %x", v.Bytes())
	}
	return "null"
}

// TestDefaults pins the values of constants in columns without a type and of several.
func TestDefaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ column, want string }{
		{"", "none"},
		{"DEFAULT NULL", "null"},
		{"DEFAULT 1", "int 1"},
		{"DEFAULT - 1", "int -1"},
		{"DEFAULT +1", "int 1"},
		{"DEFAULT 0x10", "int 16"},
		{"DEFAULT -0x10", "int -16"},
		{"DEFAULT 0xFFFFFFFFFFFFFFFF", "int -1"},
		{"DEFAULT 0x10000000000000000", `text "0x10000000000000000"`},
		{"DEFAULT 1_000", "int 1000"},
		{"DEFAULT 9223372036854775807", "int 9223372036854775807"},
		{"DEFAULT -9223372036854775808", "int -9223372036854775808"},
		{"DEFAULT 9223372036854775808", "real 9.223372036854776e+18"},
		{"DEFAULT 1.50", "real 1.5"},
		{"DEFAULT 1e999", "real +Inf"},
		{"DEFAULT 'it''s'", `text "it's"`},
		{`DEFAULT "q"`, `text "q"`},
		{"DEFAULT word", `text "word"`},
		{"DEFAULT window", `text "window"`},
		{"DEFAULT TRUE", "int 1"},
		{"DEFAULT false", "int 0"},
		{"DEFAULT [true]", `text "true"`},
		{"DEFAULT x'00fF'", "blob 00ff"},
		{"DEFAULT CURRENT_TIMESTAMP", "expr CURRENT_TIMESTAMP"},
		{"DEFAULT ( 1 )", "int 1"},
		{"DEFAULT (-(+(2)))", "int -2"},
		{"DEFAULT (- - -9223372036854775808)", "real -9.223372036854776e+18"},
		{"DEFAULT (-'12abc')", "int -12"},
		{"DEFAULT (-NULL)", "null"},
		{"DEFAULT (1 + 1)", "expr 1 + 1"},
		{"DEFAULT (random())", "expr random()"},
		{"DEFAULT (CAST('7x' AS INTEGER))", "int 7"},
		{"DEFAULT (CAST('1e3' AS NUMERIC))", "int 1000"},
		{"DEFAULT (-CAST(' 2.5 ' AS REAL))", "real -2.5"},
		{"DEFAULT (CAST(99999999999999999999 AS INT))", fmt.Sprint("int ", int64(math.MaxInt64))},
		{"DEFAULT (CAST(x'61' AS TEXT))", "expr CAST(x'61' AS TEXT)"},
		{"DEFAULT (CAST(CAST(-7.9 AS INT) AS TEXT))", `text "-7"`},
		{"DEFAULT (CAST(x'61' AS BLOB))", "blob 61"},
		{"DEFAULT (CAST(5 AS REAL))", "real 5"},
		{"DEFAULT (CAST(NULL AS INT))", "null"},
		{"DEFAULT (CAST(1e300 AS INT))", fmt.Sprint("int ", int64(math.MaxInt64))},
		{"DEFAULT (CAST(-1e300 AS INT))", fmt.Sprint("int ", int64(math.MinInt64))},
		{"DEFAULT (-x'31')", "int -1"},
		{"DEFAULT -x'00'", "int 0"},
		{"TEXT DEFAULT -x'3132'", `text "-12"`},
		{"DEFAULT (-(-'1.5'))", "real 1.5"},
		{"DEFAULT (-true)", "int -1"},
		{"DEFAULT (?1)", "null"},
		{"TEXT DEFAULT (CAST(5 AS REAL))", `text "5.0"`},
		{"TEXT DEFAULT (CAST(1.5 AS TEXT))", `text "1.5"`},
		{"DEFAULT 1 DEFAULT 2", "int 2"},
		{"TEXT DEFAULT 1.50", `text "1.50"`},
		{"TEXT DEFAULT -007", `text "-7"`},
		{"TEXT DEFAULT 99999999999999999999", `text "99999999999999999999"`},
		{"TEXT DEFAULT true", `text "1"`},
		{"TEXT DEFAULT (-(+1.5))", `text "-1.5"`},
		{"TEXT DEFAULT x'61'", "blob 61"},
		{"INTEGER DEFAULT ' 12 '", "int 12"},
		{"INTEGER DEFAULT '3.0'", "int 3"},
		{"INTEGER DEFAULT '3.5'", "real 3.5"},
		{"INTEGER DEFAULT '12x'", `text "12x"`},
		{"INTEGER DEFAULT 4.0", "int 4"},
		{"REAL DEFAULT 5", "real 5"},
		{"REAL DEFAULT '5'", "real 5"},
		{"REAL DEFAULT x", `text "x"`},
		{"NUMERIC DEFAULT '9223372036854775808'", "real 9.223372036854776e+18"},
	} {
		table := mustTable(t, "CREATE TABLE t(a "+c.column+")")
		if got := table.Columns[0].Default.describe(); got != c.want {
			t.Errorf("%s: %s, want %s", c.column, got, c.want)
		}
	}
}

// TestDefaultText pins the text that PRAGMA table_info shows.
func TestDefaultText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ column, want string }{
		{"DEFAULT - /* x */ 1 NOT NULL", "- /* x */ 1"},
		{"DEFAULT 'a' UNIQUE", "'a'"},
		{"DEFAULT (\n1 /* x */ )", "1 /* x */"},
		{"REAL DEFAULT -.5e3", "-.5e3"},
	} {
		table := mustTable(t, "CREATE TABLE t(a "+c.column+")")
		if got := table.Columns[0].Default.Expr; got != c.want {
			t.Errorf("%s: %q, want %q", c.column, got, c.want)
		}
	}
}
