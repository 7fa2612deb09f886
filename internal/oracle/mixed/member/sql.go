package member

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/oracle/mixed/bank"
)

// SQL is the driver of a database/sql driver.
type SQL struct {
	Name string
	Code func(err error) int // the result code of SQLite, or 0
}

// Result codes that say that another connection was in the way.
const (
	codeBusy     = 5
	codeLocked   = 6
	codeSchema   = 17
	codeProtocol = 15
)

// Busy implements Driver.
func (d *SQL) Busy(err error) bool {
	if errors.Is(err, errKept) {
		return true
	}
	switch d.Code(err) & 0xff {
	case codeBusy, codeLocked, codeProtocol, codeSchema:
		return true
	}
	return false
}

// Chores implements Driver.
func (d *SQL) Chores() []string {
	return []string{"PASSIVE", "FULL", "RESTART", "TRUNCATE", "VACUUM", "INCREMENTAL", "INDEX", "REWRITE"}
}

// Open implements Driver.
func (d *SQL) Open(path string, s Settings) (Session, error) {
	db, err := sql.Open(d.Name, "file:"+path)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	ctx := context.Background()
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	session := &sqlSession{db: db, c: c, ctx: ctx, odd: s.Odd}
	if err := session.prepare(s); err != nil {
		return nil, errors.Join(err, session.Close())
	}
	return session, nil
}

// A sqlSession is one connection.
type sqlSession struct {
	db  *sql.DB
	c   *sql.Conn
	ctx context.Context
	odd uint64
}

func (s *sqlSession) Close() error { return errors.Join(s.c.Close(), s.db.Close()) }

func (s *sqlSession) exec(query string, args ...any) error {
	if _, err := s.c.ExecContext(s.ctx, query, args...); err != nil {
		return fmt.Errorf("%.60s: %w", query, err)
	}
	return nil
}

// prepare sets up a connection. One in three has a cache so small that a transaction spills.
func (s *sqlSession) prepare(t Settings) error {
	bits := func(n uint64) uint64 {
		v := s.odd % n
		s.odd /= n
		return v
	}
	if err := s.exec(fmt.Sprintf("PRAGMA busy_timeout = %d", [...]int{0, 20, 1000, 5000}[bits(4)])); err != nil {
		return err
	}
	for _, p := range []string{
		"PRAGMA synchronous = " + t.Sync,
		fmt.Sprintf("PRAGMA cache_size = %d", [...]int{2000, 2000, 5}[bits(3)]),
		fmt.Sprintf("PRAGMA mmap_size = %d", [...]int{0, 0, 1 << 26}[bits(3)]),
		fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", [...]int{1000, 100, 10, 0}[bits(4)]),
		fmt.Sprintf("PRAGMA journal_size_limit = %d", [...]int{-1, -1, 0, 32768}[bits(4)]),
	} {
		if err := s.one(p, new(any)); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	var mode string
	if err := s.one("PRAGMA journal_mode", &mode); err != nil || strings.EqualFold(mode, "wal") {
		return err
	}
	return s.one("PRAGMA journal_mode = "+t.Journal, &mode)
}

func (s *sqlSession) one(query string, dest any) error {
	if err := s.c.QueryRowContext(s.ctx, query).Scan(dest); err != nil {
		return fmt.Errorf("%.60s: %w", query, err)
	}
	return nil
}

// within runs fn in a transaction that begin starts, and rolls it back if fn fails.
func (s *sqlSession) within(begin string, fn func() (keep bool, err error)) error {
	if err := s.exec(begin); err != nil {
		return err
	}
	keep, err := fn()
	if err == nil && keep {
		err = s.exec("COMMIT")
	}
	if err != nil || !keep {
		if _, again := s.c.ExecContext(s.ctx, "ROLLBACK"); again != nil && err == nil {
			err = again
		}
	}
	return err
}

// Transfer implements Session.
func (s *sqlSession) Transfer(t *bank.Transfer) (found int64, err error) {
	err = s.within("BEGIN IMMEDIATE", func() (bool, error) {
		if err := s.one(fmt.Sprintf("SELECT seq FROM writer WHERE id = %d", t.Writer), &found); err != nil || found != t.Seq-1 {
			return false, err
		}
		for _, do := range []struct {
			query string
			args  []any
		}{
			{"UPDATE account SET balance = balance - ? WHERE id = ?", []any{t.Amount, t.From}},
			{"UPDATE account SET balance = balance + ? WHERE id = ?", []any{t.Amount, t.To}},
			{"UPDATE writer SET seq = ? WHERE id = ?", []any{t.Seq, t.Writer}},
			{"INSERT INTO note(writer, seq, body) VALUES (?, ?, ?)", []any{t.Writer, t.Seq, bank.Body(t.Writer, t.Seq)}},
			{"DELETE FROM note WHERE writer = ? AND seq = ?", []any{t.Writer, t.Drop()}},
		} {
			if err := s.exec(do.query, do.args...); err != nil {
				return false, err // SQLite may have rolled back by itself: another statement would be a transaction of its own
			}
		}
		time.Sleep(t.Linger)
		return !t.Undo, nil
	})
	return found, err
}

// Look implements Session.
func (s *sqlSession) Look(l *bank.Look) error {
	return s.within("BEGIN", func() (bool, error) {
		return true, errors.Join(
			s.one("SELECT sum(balance) FROM account NOT INDEXED", &l.Sums[0]),
			s.one("SELECT sum(balance) FROM account INDEXED BY by_balance", &l.Sums[1]),
			s.numbers(&l.Numbers),
			wait(l.Linger),
			s.notes(l),
			s.one("SELECT sum(balance) FROM account NOT INDEXED", &l.Sums[2]),
			s.numbers(&l.Again),
		)
	})
}

func wait(d time.Duration) error {
	time.Sleep(d)
	return nil
}

func (s *sqlSession) numbers(dest *[]int64) error {
	rows, err := s.c.QueryContext(s.ctx, "SELECT seq FROM writer ORDER BY id")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return err
		}
		*dest = append(*dest, n)
	}
	return rows.Err()
}

func (s *sqlSession) notes(l *bank.Look) error {
	rows, err := s.c.QueryContext(s.ctx, "SELECT seq, body FROM note WHERE writer = ? ORDER BY seq", l.Writer)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n bank.Note
		if err := rows.Scan(&n.Seq, &n.Body); err != nil {
			return err
		}
		l.Notes = append(l.Notes, n)
	}
	return rows.Err()
}

// Chore implements Session.
func (s *sqlSession) Chore(name string) error {
	switch name {
	case "VACUUM":
		return s.exec("VACUUM")
	case "INCREMENTAL":
		return s.exec("PRAGMA incremental_vacuum(10)")
	case "INDEX":
		return s.toggleIndex()
	case "REWRITE":
		return s.rewrite()
	}
	var busy, frames, copied int
	row := s.c.QueryRowContext(s.ctx, "PRAGMA wal_checkpoint("+name+")")
	return row.Scan(&busy, &frames, &copied)
}

// rewrite writes every note without changing it. With a small cache most of that is in the file
// before the transaction ends: a good moment to be killed.
func (s *sqlSession) rewrite() error {
	return s.within("BEGIN IMMEDIATE", func() (bool, error) {
		if err := s.exec("UPDATE note SET seq = seq, body = body || ''"); err != nil {
			return false, err
		}
		Say("i")
		time.Sleep(20 * time.Millisecond)
		return true, nil
	})
}

// toggleIndex makes an index, or drops it if it is there.
func (s *sqlSession) toggleIndex() error {
	return s.within("BEGIN IMMEDIATE", func() (bool, error) {
		var n int
		if err := s.one("SELECT count(*) FROM sqlite_schema WHERE name = 'by_body'", &n); err != nil {
			return false, err
		}
		if n > 0 {
			return true, s.exec("DROP INDEX by_body")
		}
		return true, s.exec("CREATE INDEX by_body ON note(body)")
	})
}

// Switch implements Session.
func (s *sqlSession) Switch(mode string) error {
	var now string
	err := s.one("PRAGMA journal_mode = "+mode, &now)
	if err == nil && !strings.EqualFold(now, mode) {
		err = fmt.Errorf("%w %s", errKept, now)
	}
	return err
}

// errKept says that another process had the database open, so that its journal mode stays.
var errKept = errors.New("the journal mode is still")
