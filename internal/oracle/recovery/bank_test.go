package recovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync/atomic"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

// The database of TestRandomKill is a bank. A transaction of a teller moves money, counts the
// teller's transactions, and makes some entries, whose number follows from its own; the entries of
// an old transaction go.
const bankSchema = `
CREATE TABLE account (id INTEGER PRIMARY KEY, balance INT NOT NULL);
CREATE INDEX account_balance ON account (balance);
CREATE TABLE teller (id INTEGER PRIMARY KEY, last INT NOT NULL);
CREATE TABLE entry (teller INT, n INT, part INT, body BLOB, PRIMARY KEY (teller, n, part)) WITHOUT ROWID;
`

const (
	tellers  = 6
	accounts = 20
	funds    = 1000 // of each account at first
	memory   = 10   // transactions of each teller whose entries are there
)

// parts returns how many entries transaction n has.
func parts(n int64) int64 { return n%4 + 1 }

// createBank makes the database.
func createBank(s *setting) error {
	w, err := openOurs(s)
	if err != nil {
		return err
	}
	err = w.Update(context.Background(), func(tx *sqlitefile.Tx) error {
		if err := tx.Exec(bankSchema); err != nil {
			return err
		}
		var errs []error
		for name, rows := range map[string]struct{ count, value int64 }{"account": {accounts, funds}, "teller": {tellers, 0}} {
			t, err := tx.Table(name)
			if err != nil {
				return err
			}
			for i := range rows.count {
				errs = append(errs, t.Put(i, nil, rows.value))
			}
		}
		return errors.Join(errs...)
	})
	return errors.Join(err, w.Close())
}

// bankRole lets all tellers work at once, and says which transaction of whom is committed. It does
// not end.
func bankRole(s *setting) error {
	w, err := openOurs(s)
	if err != nil {
		return err
	}
	fmt.Println("begin")
	failed := make(chan error, tellers)
	for teller := range int64(tellers) {
		go func() {
			rng := rand.New(rand.NewPCG(s.Seed, uint64(teller)))
			for {
				n, err := work(w.DB, rng, teller)
				if err != nil {
					failed <- err
					return
				}
				fmt.Printf("%d %d\n", teller, n)
			}
		}()
	}
	return <-failed
}

// work commits the next transaction of a teller, and returns its number.
func work(db *sqlitefile.DB, rng *rand.Rand, teller int64) (n int64, err error) {
	err = db.Update(context.Background(), func(tx *sqlitefile.Tx) (err error) {
		if n, err = count(tx, teller); err != nil {
			return err
		}
		return errors.Join(move(tx, rng), enter(tx, rng, teller, n))
	})
	return n, err
}

// count counts a transaction of a teller.
func count(tx *sqlitefile.Tx, teller int64) (n int64, err error) {
	t, err := tx.Table("teller")
	if err != nil {
		return 0, err
	}
	if n, err = number(t, teller); err != nil {
		return 0, err
	}
	return n + 1, t.Put(teller, nil, n+1)
}

// number returns the number in the row of an id.
func number(t sqlitefile.TableWriter, id int64) (n int64, err error) {
	row, ok, err := t.Get(id)
	if err != nil || !ok {
		return 0, errors.Join(err, fmt.Errorf("row %d is there: %v", id, ok))
	}
	return row.Int64(1)
}

// move moves money from one account to another.
func move(tx *sqlitefile.Tx, rng *rand.Rand) error {
	t, err := tx.Table("account")
	if err != nil {
		return err
	}
	amount := rng.Int64N(100)
	for _, part := range []struct{ id, amount int64 }{{rng.Int64N(accounts), -amount}, {rng.Int64N(accounts), amount}} {
		balance, err := number(t, part.id)
		if err != nil {
			return err
		}
		if err := t.Put(part.id, nil, balance+part.amount); err != nil {
			return err
		}
	}
	return nil
}

// enter makes the entries of a transaction, and removes those of an old one.
func enter(tx *sqlitefile.Tx, rng *rand.Rand, teller, n int64) error {
	t, err := tx.Table("entry")
	if err != nil {
		return err
	}
	for part := range parts(n) {
		if err := t.PutKey(teller, n, part, make([]byte, bodySize(rng))); err != nil {
			return err
		}
	}
	_, err = t.DeleteKey(teller, n-memory)
	return err
}

// A bank is the state that a reader saw at one moment.
type bank struct {
	total   int64
	last    [tellers]int64
	entries map[[2]int64]int64 // how many, by teller and transaction
}

func newBank() *bank { return &bank{entries: make(map[[2]int64]int64)} }

// sound says whether whole transactions made it, and none that a reader saw before went away.
func (b *bank) sound(before *bank) error {
	if b.total != accounts*funds {
		return fmt.Errorf("the accounts hold %d, want %d", b.total, accounts*funds)
	}
	want := 0
	for teller, last := range b.last {
		if last < before.last[teller] {
			return fmt.Errorf("the last transaction of teller %d is %d, and was %d", teller, last, before.last[teller])
		}
		for n := max(1, last-memory+1); n <= last; n++ {
			want++
			if got := b.entries[[2]int64{int64(teller), n}]; got != parts(n) {
				return fmt.Errorf("transaction %d of teller %d has %d entries, want %d", n, teller, got, parts(n))
			}
		}
	}
	if len(b.entries) != want {
		return fmt.Errorf("there are entries of %d transactions, want %d", len(b.entries), want)
	}
	return nil
}

// A watcher reads the bank by one of the engines.
type watcher interface {
	read() (*bank, error)
	close() error
}

func (s *setting) watch() (watcher, error) {
	if s.Engine == "c" {
		c, err := judge.Open(s.Path)
		if err != nil {
			return nil, err
		}
		return cWatcher{c}, c.Exec(fmt.Sprintf("PRAGMA busy_timeout=%d", patience.Milliseconds()))
	}
	w, err := openOurs(s)
	return oursWatcher{w}, err
}

// watchRole reads until standard input ends, and says how often it did.
func watchRole(s *setting) error {
	var stop atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop.Store(true)
	}()
	w, err := s.watch()
	if err != nil {
		return err
	}
	views, before := 0, newBank()
	for ; !stop.Load(); views++ {
		b, err := w.read()
		if err == nil {
			err = b.sound(before)
		}
		if err != nil {
			return fmt.Errorf("view %d by %s: %w", views, s.Engine, err)
		}
		before = b
	}
	fmt.Println(views)
	return w.close()
}

// An oursWatcher reads by sqlitefile.
type oursWatcher struct{ *oursWriter }

func (w oursWatcher) read() (*bank, error) {
	b := newBank()
	err := w.View(context.Background(), func(rx *sqlitefile.Rx) error {
		return errors.Join(
			b.readRows(rx, "account", func(v []int64) { b.total += v[1] }),
			b.readRows(rx, "teller", func(v []int64) { b.last[v[0]] = v[1] }),
			b.readRows(rx, "entry", func(v []int64) { b.entries[[2]int64{v[0], v[1]}]++ }))
	})
	return b, err
}

// readRows reads the first two columns of a table.
func (b *bank) readRows(rx *sqlitefile.Rx, table string, do func(v []int64)) error {
	t, err := rx.Table(table)
	if err != nil {
		return err
	}
	for row, err := range t.All() {
		if err != nil {
			return err
		}
		var v [2]int64
		if err := row.Scan(&v[0], &v[1]); err != nil {
			return err
		}
		do(v[:])
	}
	return nil
}

// A cWatcher reads by C SQLite.
type cWatcher struct{ *judge.Conn }

func (w cWatcher) close() error { return w.Close() }

func (w cWatcher) read() (*bank, error) {
	if err := w.Exec("BEGIN"); err != nil {
		return nil, err
	}
	b := newBank()
	err := errors.Join(
		w.readRows("SELECT id, balance FROM account", func(v []int64) { b.total += v[1] }),
		w.readRows("SELECT id, last FROM teller", func(v []int64) { b.last[v[0]] = v[1] }),
		w.readRows("SELECT teller, n FROM entry", func(v []int64) { b.entries[[2]int64{v[0], v[1]}]++ }))
	return b, errors.Join(err, w.Exec("COMMIT"))
}

func (w cWatcher) readRows(query string, do func(v []int64)) error {
	for row, err := range w.Rows(context.Background(), query) {
		if err != nil {
			return err
		}
		do([]int64{row[0].(int64), row[1].(int64)})
	}
	return nil
}
