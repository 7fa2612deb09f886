package runner

import (
	"strings"
	"testing"
)

func TestParseQuery(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]query{
		"SELECT 1":                             {"SELECT 1", 0},
		"  select 1 ; -- that is all":          {"select 1", 0},
		"; SELECT 1":                           {"SELECT 1", 0},
		"/* ; */ SELECT ';' /* the end":        {"SELECT ';'", 0},
		"SELECT 'it''s ?', \"a?\", [b?]":       {"SELECT 'it''s ?', \"a?\", [b?]", 0},
		"SELECT ?, ?":                          {"SELECT ?1, ?2", 2},
		"SELECT :a, @b, $c, :a":                {"SELECT ?1, ?2, ?3, ?1", 3},
		"SELECT ?2, ?1, ?":                     {"SELECT ?2, ?1, ?3", 3},
		"SELECT a FROM t LIMIT :a, :b":         {"SELECT a FROM t LIMIT ?1, ?2", 2},
		"SELECT (SELECT :b) IN (?1, :c) -- :d": {"SELECT (SELECT ?1) IN (?1, ?2)", 2},
		"SELECT a->>'$.x' FROM t WHERE b=:b":   {"SELECT a->>'$.x' FROM t WHERE b=?1", 1},
		"VALUES (x'3f', 1.5e3)":                {"VALUES (x'3f', 1.5e3)", 0},
		"WITH n AS (SELECT 1)\nSELECT *":       {"WITH n AS (SELECT 1)\nSELECT *", 0},
	} {
		if got, err := parseQuery(sql); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", sql, got, err, want)
		}
	}
	for sql, want := range map[string]string{
		"":                                   "it is empty",
		"-- SELECT 1":                        "it is empty",
		"SELECT 1; SELECT 2":                 "one statement",
		"SELECT 1; rubbish":                  "one statement",
		"explain select 1":                   "that reads",
		"WITH n AS (SELECT 1) DELETE FROM t": "that reads",
		"SELECT \"a":                         "unrecognized token",
		"SELECT [a":                          "unrecognized token",
		"SELECT a FROM WHERE":                "syntax error",
		"SELECT ?0":                          "variable number must be between",
		"SELECT ?40000":                      "variable number must be between",
		"SELECT ?3, ?1":                      "has parameter 3",
	} {
		if got, err := parseQuery(sql); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want %q", sql, got, err, want)
		}
	}
}

// Numbered again, a query stays the same.
func FuzzParseQuery(f *testing.F) {
	for _, seed := range []string{"SELECT :a, ?2, 'x''y' -- z", "/*/ */ VALUES(1)", "SELECT [", "WITH \"a\"\"b\" AS (SELECT $1)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		q, err := parseQuery(sql)
		if err != nil {
			return
		}
		again, err := parseQuery(q.text)
		if err != nil || again != q {
			t.Errorf("%q is %+v, and that %+v, %v", sql, q, again, err)
		}
	})
}
