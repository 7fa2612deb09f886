package syntax

import "testing"

// FuzzParse reads any text. It wants no panic, and spans and errors that lie within the text.
func FuzzParse(f *testing.F) {
	for _, c := range errorCases {
		if len(c.sql) < 1000 {
			f.Add(c.sql)
		}
	}
	f.Fuzz(func(t *testing.T, sql string) {
		Complete(sql)
		p, err := Parse(sql)
		if err != nil {
			if err.Offset < -1 || err.Offset > len(sql) {
				t.Errorf("%q: error at %d", sql, err.Offset)
			}
			return
		}
		if p.Tail > len(sql) {
			t.Errorf("%q: the next statement is at %d", sql, p.Tail)
		}
		if p.Statement == nil {
			return
		}
		Walk(p.Statement, func(n Node) bool {
			if s := n.Bounds(); s.Start < 0 || s.End <= s.Start || s.End > len(sql) {
				t.Errorf("%q: %T has the span %v", sql, n, s)
			}
			return true
		})
		if _, err := Parse(p.String()); err != nil {
			t.Errorf("%q: %v in the printed %q", sql, err, p)
		}
	})
}
