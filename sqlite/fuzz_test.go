package sqlite_test

import (
	"context"
	"testing"
	"time"

	"github.com/foliofs/folio/sqlite"
)

// FuzzQuery runs any text as a query: it must end with rows or an error.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{
		"SELECT *, rowid FROM user u JOIN user v USING (id) WHERE u.name LIKE 'a%' ESCAPE '\\' ORDER BY 2 COLLATE NOCASE DESC NULLS FIRST LIMIT 3 OFFSET 1",
		"SELECT city, count(DISTINCT name) FILTER (WHERE id > 1), max(id), name FROM user GROUP BY 1 HAVING count(*) > 0",
		"WITH RECURSIVE n(i) AS (VALUES (1) UNION SELECT i + 1 FROM n WHERE i < 5 ORDER BY 1 DESC LIMIT 9) SELECT i, (SELECT name FROM user WHERE id = i) FROM n",
		"SELECT 1 UNION ALL SELECT 2.5 INTERSECT VALUES (x'61'), (NULL) EXCEPT SELECT 'a' ORDER BY 1",
		"SELECT CASE id WHEN 1 THEN 'a' ELSE CAST(name AS BLOB) END FROM user WHERE (id, name) IN (SELECT id, name FROM user) AND id IN (1, '2', 3.0)",
		"SELECT a.id, b.id FROM user a FULL JOIN user b ON a.id = b.id + 1 LEFT JOIN user c ON c.city = a.city AND c.id BETWEEN 1 AND 2",
		"SELECT EXISTS (SELECT 1 FROM user v WHERE v.id = u.id), u.id IS NOT TRUE FROM user u NATURAL JOIN (SELECT id, city FROM user) WHERE NOT id < ?1",
		"SELECT min(id), max(id), sum(id), total(id), avg(id), group_concat(name, '-') FROM user WHERE id = :a OR \"id\" = @b",
		"SELECT sql, name FROM sqlite_schema s, user CROSS JOIN user w INDEXED BY x",
		"SELECT abs(-9223372036854775808), 5 / 0, 1 << 70, ~id, -id, +id || 'x' FROM user WHERE id = 'x' COLLATE rtrim",
	} {
		f.Add(s)
	}
	path, remove := makeUsers()
	f.Cleanup(remove)
	db, err := sqlite.Open(path, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	f.Fuzz(func(t *testing.T, query string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/5)
		defer cancel()
		n := 0
		for row, err := range db.Query(ctx, query, 1, 2, 3, 4) {
			if err != nil {
				return
			}
			for i := range row.Len() {
				_ = row.Text(i)
			}
			if n++; n > 1000 {
				return
			}
		}
	})
}
