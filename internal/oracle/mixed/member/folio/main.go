// Member folio takes part with our engine: one DB for all goroutines of the process, whose
// transactions gather to groups.
package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/foliofs/folio/internal/oracle/mixed/bank"
	"github.com/foliofs/folio/internal/oracle/mixed/member"
	"github.com/foliofs/folio/sqlitefile"
)

func main() { member.Main(&driver{}) }

// A driver shares one DB between the sessions of a life. The first of them decides how it is
// opened.
type driver struct {
	mu    sync.Mutex // guards the fields below
	db    *sqlitefile.DB
	users int
}

var (
	durabilities = map[string]sqlitefile.Durability{"OFF": sqlitefile.DurabilityOff, "NORMAL": sqlitefile.DurabilityNormal, "FULL": sqlitefile.DurabilityFull, "EXTRA": sqlitefile.DurabilityExtra}
	journals     = map[string]sqlitefile.JournalMode{
		"DELETE": sqlitefile.JournalDelete, "TRUNCATE": sqlitefile.JournalTruncate, "PERSIST": sqlitefile.JournalPersist, "WAL": sqlitefile.JournalWAL,
	}
	checkpoints = map[string]sqlitefile.CheckpointMode{
		"PASSIVE": sqlitefile.CheckpointPassive, "FULL": sqlitefile.CheckpointFull, "RESTART": sqlitefile.CheckpointRestart, "TRUNCATE": sqlitefile.CheckpointTruncate,
	}
	timeouts = [...]time.Duration{-1, 20 * time.Millisecond, time.Second, 5 * time.Second}
)

// Open implements member.Driver.
func (d *driver) Open(path string, s member.Settings) (member.Session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users == 0 {
		db, err := sqlitefile.Open(path, &sqlitefile.Options{
			Durability: durabilities[s.Sync], JournalMode: journals[s.Journal],
			NoMmap: s.Odd%3 == 0, BusyTimeout: timeouts[s.Odd/3%4], Trace: report,
		})
		if err != nil {
			return nil, err
		}
		d.db = db
	}
	d.users++
	return &session{driver: d, db: d.db, ctx: context.Background()}, nil
}

// report counts recoveries among the chores.
func report(e sqlitefile.Event) {
	if e.Kind == sqlitefile.EventRecovery && e.Err == nil {
		member.Say("k RECOVERY")
	}
}

// Busy implements member.Driver.
func (d *driver) Busy(err error) bool { return errors.Is(err, sqlitefile.ErrBusy) }

// Chores implements member.Driver.
func (d *driver) Chores() []string {
	return []string{"PASSIVE", "FULL", "RESTART", "TRUNCATE", "INDEX", "REWRITE", "CHECK"}
}

// A session is one user of the DB.
type session struct {
	driver *driver
	db     *sqlitefile.DB
	ctx    context.Context
}

func (s *session) Close() error {
	d := s.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users--; d.users == 0 {
		return d.db.Close()
	}
	return nil
}

// errNot ends a transaction that shall not be committed.
var errNot = errors.New("roll back")

// Transfer implements member.Session.
func (s *session) Transfer(t *bank.Transfer) (found int64, err error) {
	err = s.db.Update(s.ctx, func(tx *sqlitefile.Tx) error {
		if found, err = number(tx, t.Writer); err != nil {
			return err
		}
		if found != t.Seq-1 {
			return errNot
		}
		do := func(tx *sqlitefile.Tx) error { return transfer(tx, t) }
		if t.Seq%8 == 0 {
			err = tx.Nested(do)
		} else {
			err = do(tx)
		}
		time.Sleep(t.Linger)
		if err == nil && t.Undo {
			err = errNot
		}
		return err
	})
	if err == errNot {
		err = nil
	}
	return found, err
}

func number(tx *sqlitefile.Tx, writer int) (int64, error) {
	w, err := tx.Table("writer")
	if err != nil {
		return 0, err
	}
	return column(w.Table, int64(writer), 1)
}

// column returns an integer of a row that must be there.
func column(t sqlitefile.Table, rowid int64, i int) (int64, error) {
	row, ok, err := t.Get(rowid)
	if err == nil && !ok {
		err = fmt.Errorf("%s has no row %d", t.Name(), rowid)
	}
	if err != nil {
		return 0, err
	}
	return row.Int64(i)
}

func transfer(tx *sqlitefile.Tx, t *bank.Transfer) error {
	if err := pay(tx, t.From, -t.Amount); err != nil {
		return err
	}
	if err := pay(tx, t.To, t.Amount); err != nil {
		return err
	}
	w, err := tx.Table("writer")
	if err != nil {
		return err
	}
	if _, err := w.Update(int64(t.Writer), t.Writer, t.Seq); err != nil {
		return err
	}
	n, err := tx.Table("note")
	if err != nil {
		return err
	}
	if _, err := n.Insert(nil, t.Writer, t.Seq, bank.Body(t.Writer, t.Seq)); err != nil {
		return err
	}
	return drop(tx, n, t)
}

// pay changes a balance.
func pay(tx *sqlitefile.Tx, account int, amount int64) error {
	a, err := tx.Table("account")
	if err != nil {
		return err
	}
	balance, err := column(a.Table, int64(account), 1)
	if err != nil {
		return err
	}
	_, err = a.Update(int64(account), account, balance+amount)
	return err
}

// drop removes the note that is too old.
func drop(tx *sqlitefile.Tx, notes sqlitefile.TableWriter, t *bank.Transfer) error {
	x, err := tx.Index("sqlite_autoindex_note_1")
	if err != nil {
		return err
	}
	rowid, ok, err := x.Find(t.Writer, t.Drop())
	if err != nil || !ok {
		return err
	}
	_, err = notes.Delete(rowid)
	return err
}

// Look implements member.Session.
func (s *session) Look(l *bank.Look) error {
	return s.db.View(s.ctx, func(rx *sqlitefile.Rx) error {
		for _, do := range []func() error{
			func() error { return sumTable(rx, &l.Sums[0]) },
			func() error { return sumIndex(rx, &l.Sums[1]) },
			func() error { return numbers(rx, &l.Numbers) },
			func() error { time.Sleep(l.Linger); return nil },
			func() error { return notes(rx, l) },
			func() error { return sumTable(rx, &l.Sums[2]) },
			func() error { return numbers(rx, &l.Again) },
		} {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	})
}

func sumTable(rx *sqlitefile.Rx, sum *int64) error {
	return each(rx, "account", func(row *sqlitefile.Row) error { return add(row, 1, sum) })
}

func sumIndex(rx *sqlitefile.Rx, sum *int64) error {
	x, err := rx.Index("by_balance")
	if err != nil {
		return err
	}
	for row, err := range x.All() {
		if err == nil {
			err = add(&row, 0, sum)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func add(row *sqlitefile.Row, i int, sum *int64) error {
	n, err := row.Int64(i)
	*sum += n
	return err
}

func each(rx *sqlitefile.Rx, table string, fn func(row *sqlitefile.Row) error) error {
	t, err := rx.Table(table)
	if err != nil {
		return err
	}
	for row, err := range t.All() {
		if err == nil {
			err = fn(&row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func numbers(rx *sqlitefile.Rx, dest *[]int64) error {
	return each(rx, "writer", func(row *sqlitefile.Row) error {
		n, err := row.Int64(1)
		*dest = append(*dest, n)
		return err
	})
}

func notes(rx *sqlitefile.Rx, l *bank.Look) error {
	x, err := rx.Index("sqlite_autoindex_note_1")
	if err != nil {
		return err
	}
	t, err := rx.Table("note")
	if err != nil {
		return err
	}
	for entry, err := range x.Prefix(l.Writer) {
		if err != nil {
			return err
		}
		row, ok, err := t.Get(entry.Rowid())
		if err == nil && !ok {
			err = fmt.Errorf("an entry of the index leads to row %d, which is not there", entry.Rowid())
		}
		var n bank.Note
		if err == nil {
			err = row.Scan(nil, nil, &n.Seq, &n.Body)
		}
		if err != nil {
			return err
		}
		l.Notes = append(l.Notes, n)
	}
	return nil
}

// Chore implements member.Session.
func (s *session) Chore(name string) error {
	switch name {
	case "INDEX":
		return s.toggleIndex()
	case "REWRITE":
		return s.db.Update(s.ctx, rewrite)
	case "CHECK":
		r, err := s.db.Check(s.ctx, nil)
		if err == nil && !r.OK() {
			err = fmt.Errorf("integrity: %v", r.Problems)
		}
		return err
	}
	return s.db.Checkpoint(s.ctx, checkpoints[name])
}

// toggleIndex makes an index, or drops it if it is there.
func (s *session) toggleIndex() error {
	return s.db.Update(s.ctx, func(tx *sqlitefile.Tx) error {
		_, err := tx.Index("by_body")
		switch {
		case errors.Is(err, sqlitefile.ErrNoIndex):
			return tx.Exec("CREATE INDEX by_body ON note(body)")
		case err != nil:
			return err
		}
		return tx.Exec("DROP INDEX by_body")
	})
}

// rewrite writes every note without changing it.
func rewrite(tx *sqlitefile.Tx) error {
	t, err := tx.Table("note")
	if err != nil {
		return err
	}
	var rows [][]any
	for row, err := range t.All() {
		var id, writer, seq int64
		var body string
		if err == nil {
			err = row.Scan(&id, &writer, &seq, &body)
		}
		if err != nil {
			return err
		}
		rows = append(rows, []any{id, writer, seq, body})
	}
	for _, r := range rows {
		if _, err := t.Update(r[0].(int64), r...); err != nil {
			return err
		}
	}
	return nil
}

// Switch implements member.Session.
func (s *session) Switch(mode string) error { return s.db.SetJournalMode(s.ctx, journals[mode]) }
