package expr

import (
	"testing"

	"github.com/foliofs/folio/internal/record"
)

func BenchmarkEval(b *testing.B) {
	r := row{record.OfInt(7), record.OfText([]byte("Abc")), record.OfFloat(2.5), record.OfText([]byte("12x"))}
	for name, text := range map[string]string{
		"compare": "a > 5", "range": "a BETWEEN 1 AND 9", "arithmetic": "a * 2 + c < 100 AND a - 1 > 0",
		"function": "length(b) < 10", "like": "b LIKE 'a%'", "in": "a IN (1, 3, 5, 7, 9)", "case": "CASE WHEN a < 5 THEN 1 WHEN a < 10 THEN 2 END",
	} {
		x, err := Compile(text, tableOf(b), Check)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Eval(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
