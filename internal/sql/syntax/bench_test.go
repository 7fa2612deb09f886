package syntax

import "testing"

// BenchmarkParse reads statements of three sizes. The first is the query of a lookup, which each
// prepare pays for.
func BenchmarkParse(b *testing.B) {
	for _, c := range []struct{ name, sql string }{
		{"point", "SELECT name, size FROM file WHERE id = ?"},
		{"insert", "INSERT INTO file(id, name, size) VALUES(?, ?, ?)"},
		{"join", `SELECT a.name, count(*) FROM author a JOIN book b ON b.author = a.id
			WHERE b.year BETWEEN 1990 AND 2000 AND a.name LIKE 'A%' GROUP BY a.id HAVING count(*) > 3 ORDER BY 2 DESC LIMIT 10`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.sql)))
			for b.Loop() {
				if _, err := Parse(c.sql); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
