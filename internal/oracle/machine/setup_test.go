package machine

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

// A setup is the settings in the header of a database.
type setup struct {
	pageSize int
	reserved int
	vacuum   int // auto_vacuum: 0 none, 1 full, 2 incremental
	encoding string
}

var encodings = []string{"UTF-8", "UTF-8", "UTF-16le", "UTF-16be"}

func randomSetup(r *rand.Rand) setup {
	return setup{512 << r.IntN(8), pick(r, []int{0, 0, 8, 32}), r.IntN(3), pick(r, encodings)}
}

// apply makes the database of a connection, which has no tables yet, one of the setup.
func (s setup) apply(c *judge.Conn) error {
	err := c.Exec(fmt.Sprintf("PRAGMA page_size = %d", s.pageSize))
	if err == nil {
		err = c.ReserveBytes(s.reserved)
	}
	if err == nil {
		err = c.Exec(fmt.Sprintf("PRAGMA encoding = '%s'; PRAGMA auto_vacuum = %d; CREATE TABLE first(x); DROP TABLE first", s.encoding, s.vacuum))
	}
	return err
}

// path is that of the database in a file.
func (m *machine) path() string { return filepath.Join(m.dir, "ours.db") }

// open makes both databases and opens them.
func (m *machine) open() (err error) {
	if err := m.makeFile(); err != nil {
		return err
	}
	if m.lockPage > 0 {
		if err := m.stretch(); err != nil {
			return err
		}
	}
	if m.model, err = newConn(":memory:"); err != nil {
		return err
	}
	if err := m.setup.apply(m.model.conn); err != nil {
		return err
	}
	if m.lockPage > 0 {
		if err := m.model.exec(m.ballast()); err != nil {
			return err
		}
	}
	m.ours = &engine{}
	m.sides = []side{m.ours, m.model}
	if err := m.openOurs(); err != nil {
		return err
	}
	if m.random.IntN(2) == 0 {
		if err := m.ours.db.SetJournalMode(ctx, sqlitefile.JournalWAL); err != nil {
			return err
		}
	}
	if !m.turns {
		return nil
	}
	return m.openOthers()
}

// makeFile lets C make the database in the file, or else leaves it to ours if it has nothing
// special.
func (m *machine) makeFile() error {
	if m.setup == (setup{pageSize: m.setup.pageSize, encoding: "UTF-8"}) && !m.turns && m.random.IntN(2) == 0 {
		db, err := sqlitefile.Open(m.path(), m.options())
		if err != nil {
			return err
		}
		return errors.Join(db.Exec(ctx, "CREATE TABLE first(x); DROP TABLE first"), db.Close())
	}
	c, err := judge.Open("file:" + m.path() + "?_journal_mode=off&_sync=off")
	if err != nil {
		return err
	}
	err = m.setup.apply(c)
	if m.lockPage > 0 && err == nil {
		err = c.Exec(m.ballast())
	}
	return errors.Join(err, c.Close())
}

// openOurs opens the database in the file, in any way.
func (m *machine) openOurs() (err error) {
	m.ours.db, err = sqlitefile.Open(m.path(), m.options())
	return err
}

// options are those of the engine in any way.
func (m *machine) options() *sqlitefile.Options {
	return &sqlitefile.Options{
		NoMmap:      m.random.IntN(4) == 0,
		Durability:  pick(m.random, []sqlitefile.Durability{sqlitefile.DurabilityOff, sqlitefile.DurabilityNormal, sqlitefile.DurabilityFull, sqlitefile.DurabilityExtra}),
		JournalMode: pick(m.random, journalModes[:3]),
		Create:      true,
		PageSize:    m.setup.pageSize,
	}
}

var journalModes = []sqlitefile.JournalMode{sqlitefile.JournalDelete, sqlitefile.JournalTruncate, sqlitefile.JournalPersist, sqlitefile.JournalWAL}

func (m *machine) close() {
	for _, c := range []io.Closer{m.ours, m.second, m.theirs, m.model} {
		_ = c.Close()
	}
}

// reopen closes the database in the file and opens it again.
func (m *machine) reopen() error {
	m.note("reopen")
	if m.turns && m.random.IntN(2) == 0 {
		return errors.Join(m.closeOthers(), m.openOthers())
	}
	if err := m.ours.db.Close(); err != nil {
		return err
	}
	return m.openOurs()
}

// changeMode changes the journal mode of the database in the file.
func (m *machine) changeMode() error {
	mode := pick(m.random, journalModes)
	m.note("journal mode %d", mode)
	if m.turns {
		return m.changeModeBeside(mode)
	}
	return m.ours.db.SetJournalMode(ctx, mode)
}

// checkpoint copies the log into the database.
func (m *machine) checkpoint() error {
	mode := sqlitefile.CheckpointMode(m.random.IntN(4))
	m.note("checkpoint %d", mode)
	if m.turns && m.random.IntN(2) == 0 {
		return m.theirs.conn.Exec("PRAGMA wal_checkpoint(" + []string{"PASSIVE", "FULL", "RESTART", "TRUNCATE"}[mode] + ")")
	}
	return m.ours.db.Checkpoint(ctx, mode)
}

// backup copies the database and lets C check the copy.
func (m *machine) backup() error {
	m.note("backup")
	path := filepath.Join(m.dir, "backup.db")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	if err := errors.Join(m.ours.db.Backup(ctx, f), f.Close()); err != nil {
		return err
	}
	c, err := judge.Open(path)
	if err != nil {
		return err
	}
	defer c.Close()
	return wantOK(c, "main")
}

// compact makes the databases as small as they can be. VACUUM would choose new rowids where they
// have no name, and drop sqlite_sequence if no table needs it.
func (m *machine) compact() error {
	m.note("compact")
	if err := m.ours.db.Compact(ctx, nil); err != nil {
		return err
	}
	if slices.ContainsFunc(m.schema, func(t *table) bool { return !t.keyed() && t.alias < 0 }) || m.counted {
		m.smaller = true
		return nil
	}
	m.smaller = false
	return m.model.exec("VACUUM")
}

// wantOK lets C check a database of a connection.
func wantOK(c *judge.Conn, schema string) error {
	got, err := c.Strings(ctx, "PRAGMA "+schema+".integrity_check")
	if err == nil && (len(got) != 1 || got[0] != "ok") {
		err = fmt.Errorf("integrity_check: %q", got)
	}
	return err
}
