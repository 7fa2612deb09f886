package machine

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/foliofs/folio/sqlitefile"
)

var (
	transactions = flag.Int("machine.transactions", 2000, "transactions that ours and C make in turn on the same files")
	every        = flag.Int("machine.every", 5, "compare after so many of these transactions")
)

// turnWeights says how often each kind occurs where both have the same file open.
var turnWeights = [opKinds]int{
	opCreateTable: 3, opDropTable: 1, opCreateIndex: 4, opDropIndex: 1, opInsert: 22, opInsertRowid: 8, opUpdate: 12, opSet: 8, opPut: 10, opDelete: 10, opDeleteRange: 2,
	opMany: 6, opFew: 3, opScan: 2, opBegin: 12, opEnd: 13, opRollback: 4, opReopen: 1, opCheckpoint: 2, opMode: 1, opAlter: 2, opForeign: 8, opIncremental: 1,
}

// turnOps is how many operations there are on one file.
const turnOps = 400

// TestInterleaved lets our engine and C write to one file in turn, each with the connection that it
// keeps open, and compares the file with one that C alone has changed by the same operations.
func TestInterleaved(t *testing.T) {
	t.Parallel()
	needC(t)
	var sum totals
	var mu sync.Mutex
	runs := 0
	failed := each(t, *transactions, func(n uint64) error {
		mu.Lock()
		enough := sum.transactions >= int64(*transactions)
		mu.Unlock()
		if enough {
			return nil
		}
		m := newInterleaved(n)
		err := m.play()
		mu.Lock()
		defer mu.Unlock()
		sum.add(m.totals)
		runs++
		return err
	})
	t.Logf("%d files from seed %d on, compared after each %d transactions: %v", runs, *first, *every, &sum)
	for _, n := range failed {
		t.Errorf("-machine.seed %d: %s", n, shrink(func() *machine { return newInterleaved(n) }))
	}
}

func newInterleaved(seed uint64) *machine {
	r := rand.New(rand.NewPCG(seed, 3))
	return &machine{setup: randomSetup(r), ops: randomOps(r, turnOps, &turnWeights), random: rand.New(rand.NewPCG(seed, 4)), turns: true, every: *every}
}

// openOthers opens the file with C, and makes tables that ours refuses to write; and once more with
// ours.
func (m *machine) openOthers() (err error) {
	if m.theirs, err = newConn("file:" + m.path() + "?_busy_timeout=20000"); err != nil {
		return err
	}
	settings := fmt.Sprintf("PRAGMA cache_size = %d; PRAGMA synchronous = %s; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = %d",
		pick(m.random, []int{5, 20, 2000}), pick(m.random, []string{"OFF", "NORMAL", "FULL", "EXTRA"}), pick(m.random, []int{0, 10, 1000}))
	for _, c := range []*conn{m.theirs, m.model} {
		err = errors.Join(err, c.exec(settings), c.exec(foreignTables))
	}
	if err == nil {
		m.second = &engine{}
		m.second.db, err = sqlitefile.Open(m.path(), m.options())
	}
	return err
}

func (m *machine) closeOthers() error {
	return errors.Join(m.second.Close(), m.theirs.Close())
}

// takeTurn chooses the side for the next transaction.
func (m *machine) takeTurn() {
	who := m.random.IntN(5)
	m.sides[0] = []side{m.ours, m.ours, m.second, m.theirs, m.theirs}[who]
	m.note("who: %d", who)
}

// changeModeBeside changes the journal mode. The other connections must have closed the file if
// that was WAL.
func (m *machine) changeModeBeside(mode sqlitefile.JournalMode) error {
	name := mode.String()
	now, err := m.ours.db.JournalMode(ctx)
	if err != nil {
		return err
	}
	if now == sqlitefile.JournalWAL && mode != now {
		err := errors.Join(m.closeOthers(), m.ours.db.SetJournalMode(ctx, mode))
		if err != nil {
			return err
		}
		return m.openOthers()
	}
	if m.random.IntN(2) == 0 {
		return m.ours.db.SetJournalMode(ctx, mode)
	}
	got, err := m.theirs.conn.Strings(ctx, "PRAGMA journal_mode = "+name)
	if err == nil && (len(got) != 1 || got[0] != name) {
		err = fmt.Errorf("journal mode is %q, not %s", got, name)
	}
	return err
}

// theirTurn runs statements by C on the file and on the model.
func (m *machine) theirTurn(sql string, args ...any) (ok bool, err error) {
	m.sides[0] = m.theirs
	_, ok, err = m.both(func() string { return fmt.Sprint(sql, args) }, func(s side) (int64, error) { return 0, s.(*conn).conn.Exec(sql, args...) })
	return ok, err
}

// alter adds a column, which the rows that are there do not have.
func (m *machine) alter() error {
	t := m.table()
	if t == nil || len(t.columns) > 12 {
		return nil
	}
	c := column{fmt.Sprint("c", len(t.columns)), pick(m.random, types), pick(m.random, collations)}
	if t.strict {
		c.typ = "ANY"
	}
	value := pick(m.random, []string{"NULL", "7", "-1.5", "'text'", "x'0102'", "'12'", "1e3"})
	ok, err := m.theirTurn(fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s COLLATE %s DEFAULT %s", t.name, c.name, c.typ, c.collation, value))
	if ok {
		m.replace(t, func(t *table) { t.columns = append(slices.Clone(t.columns), c) })
	}
	return err
}

const foreignTables = `CREATE TABLE IF NOT EXISTS parent(id INTEGER PRIMARY KEY, a TEXT UNIQUE);
	CREATE TABLE IF NOT EXISTS child(id INTEGER PRIMARY KEY, p REFERENCES parent ON DELETE CASCADE, a REFERENCES parent(a) ON UPDATE CASCADE ON DELETE SET NULL, b BLOB)`

// foreign changes the tables with foreign keys, or the numbers that AUTOINCREMENT keeps.
func (m *machine) foreign() error {
	n := int64(m.random.IntN(40))
	var err error
	switch m.random.IntN(5) {
	case 0:
		_, err = m.theirTurn("INSERT OR IGNORE INTO parent VALUES(?, ?)", n, fmt.Sprint("p", n))
	case 1:
		_, err = m.theirTurn("INSERT INTO child(p, a, b) VALUES(?, ?, zeroblob(?))", n, fmt.Sprint("p", m.random.IntN(40)), int64(m.length(true)))
	case 2:
		_, err = m.theirTurn("DELETE FROM parent WHERE id = ?", n)
	case 3:
		_, err = m.theirTurn("UPDATE parent SET a = a || '.' WHERE id = ?", n)
	case 4:
		if m.counted {
			_, err = m.theirTurn("UPDATE sqlite_sequence SET seq = " + pick(m.random, []string{"-5", "'12'", "' 300 '", "NULL", "7.9", "'x'", "x'3132'", "500"}))
		}
	}
	return err
}

// incremental gives free pages back, in the auto_vacuum mode that is for it.
func (m *machine) incremental() error {
	_, err := m.theirTurn(fmt.Sprintf("PRAGMA incremental_vacuum(%d)", 1+m.random.IntN(10)))
	return err
}

// compareForeign compares the tables with foreign keys, and lets C check these.
func (m *machine) compareForeign() error {
	if err := errors.Join(m.same("parent", []string{"id", "a"}), m.same("child", []string{"id", "p", "a", "b"})); err != nil {
		return err
	}
	broken, err := m.model.conn.Strings(ctx, "PRAGMA ours.foreign_key_check")
	if err == nil && len(broken) > 0 {
		err = fmt.Errorf("foreign_key_check: %q", broken)
	}
	if err == nil && m.unused.high == 0 {
		err = wantOK(m.theirs.conn, "main")
	}
	return err
}
