package sqlstore_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
)

// benchmarkFileView makes files of 1,000 bytes, each in a transaction of its own: by the library,
// by view file, and by five statements on the tables.
func benchmarkFileView(b *testing.B, d *suite.Driver) {
	content := bytes.Repeat([]byte("x"), 1000)
	b.Run("library", func(b *testing.B) {
		v, err := folio.Open(filepath.Join(b.TempDir(), "bench.folio"), &folio.Options{Create: true})
		must.Do(b, err)
		defer v.Close()
		must.Do(b, v.Mkdir("dir", 0o755))
		for i := 0; b.Loop(); i++ {
			must.Do(b, v.WriteFile(fmt.Sprintf("dir/%08d", i), content, 0o644))
		}
	})
	b.Run("view", func(b *testing.B) {
		db := benchDB(b, d)
		insert, err := db.Prepare("INSERT INTO file (path, content) VALUES (?, ?)")
		must.Do(b, err)
		for i := 0; b.Loop(); i++ {
			_, err := insert.Exec(fmt.Sprintf("dir/%08d", i), content)
			must.Do(b, err)
		}
	})
	b.Run("statements", func(b *testing.B) { benchmarkStatements(b, benchDB(b, d), content) })
}

// benchDB opens a volume with a directory.
func benchDB(b *testing.B, d *suite.Driver) *sql.DB {
	path := filepath.Join(b.TempDir(), "bench.folio")
	v, err := folio.Open(path, &folio.Options{Create: true})
	must.Do(b, err)
	must.Do(b, v.Mkdir("dir", 0o755))
	must.Do(b, v.Close())
	db, err := sql.Open(d.Name, path)
	must.Do(b, err)
	b.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	_, err = db.Exec("PRAGMA synchronous = NORMAL")
	must.Do(b, err)
	return db
}

// benchmarkStatements makes files as a program does that knows the tables, and the inode of the
// directory.
func benchmarkStatements(b *testing.B, db *sql.DB, content []byte) {
	var dir, ino int64
	must.Do(b, db.QueryRow("SELECT ino FROM entry WHERE parent = 1 AND name = 'dir'").Scan(&dir))
	must.Do(b, db.QueryRow("SELECT max(ino) FROM node").Scan(&ino))
	var list []*sql.Stmt
	for _, query := range []string{
		"SELECT ino FROM entry WHERE parent = ? AND name = ?",
		"INSERT INTO node VALUES (?, 33188, 1, 0, 0, ?, 0, ?3, ?3, ?3, 0)",
		"INSERT INTO entry VALUES (?, ?, ?, 1)",
		"INSERT INTO data VALUES (? << 28, ?)",
		"UPDATE node SET mtime_ns = ?, ctime_ns = ?1 WHERE ino = ?",
	} {
		s, err := db.Prepare(query)
		must.Do(b, err)
		list = append(list, s)
	}
	for i := 0; b.Loop(); i++ {
		name, now := fmt.Sprintf("%08d", i), time.Now().UnixNano()
		ino++
		tx, err := db.Begin()
		must.Do(b, err)
		if err := tx.Stmt(list[0]).QueryRow(dir, name).Scan(new(int64)); err != sql.ErrNoRows {
			b.Fatal(err)
		}
		for s, args := range [][]any{{ino, len(content), now}, {dir, name, ino}, {ino, content}, {now, dir}} {
			_, err := tx.Stmt(list[s+1]).Exec(args...)
			must.Do(b, err)
		}
		must.Do(b, tx.Commit())
	}
}
