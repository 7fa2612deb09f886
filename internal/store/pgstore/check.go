package pgstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/check"
	"github.com/foliofs/folio/internal/store/pgstore/bucket"
)

// Check checks the volume as package check describes. It does not look at the database below, which
// pg_amcheck does, and it does not call o.Progress.
func (s *Store) Check(ctx context.Context, _ *store.CheckOptions) (*store.Report, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	report := new(store.Report)
	o := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, s.pool, o, func(tx pgx.Tx) error {
		f := &feeder{ctx: ctx, tx: tx, schema: s.schema, report: report, checker: check.New(report), objects: s.objects}
		return f.run()
	})
	if err != nil {
		return nil, explain(err)
	}
	return report, nil
}

// A feeder gives the rows of the tables to a checker.
type feeder struct {
	ctx     context.Context
	tx      pgx.Tx
	schema  schemaName
	report  *store.Report
	checker *check.Checker
	objects *objects // or nil
}

func (f *feeder) run() error {
	for _, step := range []struct {
		query string
		feed  func(v [][]byte)
	}{
		{"SELECT ino, " + nodeColumns + " FROM @node ORDER BY ino", func(v [][]byte) {
			raw := nodeRow(v[1:])
			f.checker.Node(store.Ino(number(v[0])), &raw, false)
		}},
		{"SELECT parent, substring(name FOR 1000), ino, type FROM @entry ORDER BY parent, name", func(v [][]byte) {
			f.checker.Entry(store.Ino(number(v[0])), v[1], store.Ino(number(v[2])), number(v[3]))
		}},
		{"SELECT id, coalesce(length, octet_length(bytes))::bigint FROM @data ORDER BY id", func(v [][]byte) { f.checker.Data(number(v[0]), number(v[1])) }},
		{"SELECT ino, substring(name FOR 300), octet_length(value)::bigint FROM @xattr ORDER BY ino, name", func(v [][]byte) {
			f.checker.Xattr(store.Ino(number(v[0])), v[1], number(v[2]))
		}},
		{"SELECT ino FROM @orphan ORDER BY ino", func(v [][]byte) { f.checker.Orphan(store.Ino(number(v[0]))) }},
	} {
		if err := f.table(step.query, step.feed); err != nil {
			return err
		}
	}
	f.checker.Finish()
	if err := f.checkTriggers(); err != nil {
		return err
	}
	if err := f.checkObjects(f.objects); err != nil {
		return err
	}
	for i := range f.report.Problems {
		if err := f.checker.SetPath(&f.report.Problems[i], f.nameOf); err != nil {
			return err
		}
	}
	return nil
}

// checkTriggers looks for the trigger on which Stores rely, which puts objects on the list of those
// that may be removed.
func (f *feeder) checkTriggers() error {
	query := fmt.Sprintf(`SELECT name FROM (VALUES ('data', 'drop_object')) AS wanted(relation, name)
WHERE NOT EXISTS (
  SELECT FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE n.nspname = '%s' AND c.relname = relation AND t.tgname = name AND t.tgenabled IN ('O', 'A')
)`, f.schema)
	return f.table(query, func(v [][]byte) {
		f.report.Add(store.Problem{What: fmt.Sprintf("the trigger %s is missing or off: restore the schema of the volume from a backup", v[0])})
	})
}

// table calls feed for each row.
func (f *feeder) table(query string, feed func(v [][]byte)) error {
	rows, err := f.tx.Query(f.ctx, f.schema.in(query))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		feed(rows.RawValues())
	}
	return rows.Err()
}

// nameOf implements check.NameOf.
func (f *feeder) nameOf(dir, ino store.Ino) (string, error) {
	var name []byte
	query := f.schema.in("SELECT name FROM @entry WHERE parent = $1 AND ino = $2 ORDER BY name LIMIT 1")
	err := f.tx.QueryRow(f.ctx, query, int64(dir), int64(ino)).Scan(&name)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return string(name), err
}

// checkObjects compares the objects that rows name with those in the bucket. A snapshot of the rows
// was read before.
func (f *feeder) checkObjects(o *objects) error {
	type needed struct {
		size  int64
		first int64 // row
	}
	need := make(map[bucket.Name]needed)
	err := f.table("SELECT d.object, max(d.at + d.length)::bigint, min(d.id), bool_or(o.name IS NULL OR o.swept) FROM @data AS d LEFT JOIN @object AS o ON o.name = d.object WHERE d.object IS NOT NULL GROUP BY d.object", func(v [][]byte) {
		var n bucket.Name
		copy(n[:], v[0])
		need[n] = needed{number(v[1]), number(v[2])}
		if len(v[3]) == 1 && v[3][0] != 0 {
			f.checker.Damaged(store.Ino(number(v[2])>>store.ChunkBits), fmt.Errorf("object %s is needed, and is not on the list of objects", n))
		}
	})
	if err != nil || len(need) == 0 {
		return err
	}
	if o == nil {
		for n, d := range need {
			f.checker.Damaged(store.Ino(d.first>>store.ChunkBits), fmt.Errorf("object %s is needed, and the volume names no bucket", n))
		}
		return nil
	}
	err = o.client.List(f.ctx, func(list []bucket.Object) error {
		for _, found := range list {
			d, ok := need[found.Name]
			delete(need, found.Name)
			if ok && found.Size < d.size {
				f.checker.Damaged(store.Ino(d.first>>store.ChunkBits), fmt.Errorf("object %s has %d bytes in the bucket, of %d", found.Name, found.Size, d.size))
			}
		}
		return nil
	})
	for n, d := range need {
		if err == nil {
			f.checker.Damaged(store.Ino(d.first>>store.ChunkBits), fmt.Errorf("object %s is missing in the bucket", n))
		}
	}
	return err
}
