// Package member is shared by the programs of the mixed stress. A member opens the database again
// and again, writes and reads it with several goroutines, and does the chores of a database, until
// its standard input ends or the runner kills it.
//
// On its standard output it reports, one line each:
//
//	a WRITER SEQ    a transaction is acknowledged: its commit has returned
//	b N             so many attempts found the database busy
//	r N             so many snapshots were read, and found to be right
//	k CHORE         a chore is done
//	m MODE          the database is in this journal mode now
//	i               in the middle of a large transaction
//	! TEXT          something is wrong; the member ends
//
// On its standard input it is told, one line each:
//
//	reopen          close everything, and open it again
//	switch MODE     close everything, change the journal mode, and open it again
package member

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/oracle/mixed/bank"
)

// A Driver opens sessions.
type Driver interface {
	// Open opens a session.
	Open(path string, s Settings) (Session, error)
	// Busy reports whether an error says that another connection was in the way, and nothing has
	// happened.
	Busy(err error) bool
	// Chores are the names that Session.Chore knows, besides the names in Modes.
	Chores() []string
}

// Settings are chosen again each time a member opens the database.
type Settings struct {
	Sync    string // OFF, NORMAL, FULL or EXTRA
	Journal string // DELETE, TRUNCATE or PERSIST, if the database is not in WAL mode
	Odd     uint64 // decides all else
}

// A Session is one goroutine's way to the database.
type Session interface {
	// Transfer runs a transaction and returns the number that it found. If that is not t.Seq - 1,
	// it changes nothing.
	Transfer(t *bank.Transfer) (found int64, err error)
	// Look fills in the results of one read transaction.
	Look(l *bank.Look) error
	// Chore does one of the chores.
	Chore(name string) error
	// Switch changes the journal mode to one of the settings' modes or WAL.
	Switch(mode string) error
	Close() error
}

// A member is a running program.
type member struct {
	driver  Driver
	path    string
	first   int // writer
	writers []*writer
	readers int
	all     int // writers of all members
	rnd     *rand.Rand

	busy  atomic.Int64
	looks atomic.Int64
	stop  atomic.Bool
}

// A writer knows which number it must find.
type writer struct {
	id      int
	last    int64
	unknown bool // one more may have been committed before the member was killed
}

// Main is the whole of a member's main.
func Main(d Driver) {
	m := &member{driver: d}
	var floors, mode string
	var seed uint64
	flag.StringVar(&m.path, "db", "", "the `file`")
	flag.IntVar(&m.first, "first", 0, "number of the first writer")
	flag.StringVar(&floors, "floors", "0", "what is acknowledged of each writer")
	flag.IntVar(&m.readers, "readers", 1, "readers")
	flag.IntVar(&m.all, "all", 1, "writers of all members")
	flag.StringVar(&mode, "switch", "", "the journal `mode` to change to before anything else")
	flag.Uint64Var(&seed, "seed", 1, "seed")
	flag.Parse()
	m.rnd = rand.New(rand.NewPCG(seed, uint64(m.first)))
	for i, s := range strings.Split(floors, ",") {
		floor, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			m.fail("floors: %v", err)
		}
		m.writers = append(m.writers, &writer{id: m.first + i, last: floor, unknown: true})
	}
	if mode != "" {
		m.change(mode)
	}
	m.run()
}

// run lives one life after the other.
func (m *member) run() {
	commands := make(chan string)
	go func() {
		defer close(commands)
		for s := bufio.NewScanner(os.Stdin); s.Scan(); {
			commands <- s.Text()
		}
	}()
	for {
		end := time.NewTimer(time.Duration(100+m.rnd.IntN(3000)) * time.Millisecond)
		m.stop.Store(false)
		done := m.live()
		command, ok := "", true
		select {
		case command, ok = <-commands:
		case <-end.C:
		}
		m.stop.Store(true)
		<-done
		m.tell()
		if !ok {
			return
		}
		if mode, is := strings.CutPrefix(command, "switch "); is {
			m.change(mode)
		} else if command == "reopen" {
			time.Sleep(time.Duration(m.rnd.IntN(400)) * time.Millisecond) // so that the member that changes the mode has the database for itself, or has not
		}
	}
}

// settings chooses some.
func (m *member) settings() Settings {
	return Settings{
		Sync:    pick(m.rnd, "OFF", "NORMAL", "FULL", "EXTRA"),
		Journal: pick(m.rnd, "DELETE", "TRUNCATE", "PERSIST"),
		Odd:     m.rnd.Uint64(),
	}
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// live starts a session for each goroutine and returns a channel that is closed when all have
// ended.
func (m *member) live() <-chan struct{} {
	done := make(chan struct{})
	s := m.settings()
	var all sync.WaitGroup
	for _, w := range m.writers {
		m.start(&all, s, func(c Session, r *rand.Rand) { m.transfer(c, w, r) })
	}
	for range m.readers {
		var before []int64
		m.start(&all, s, func(c Session, r *rand.Rand) { before = m.look(c, before, r) })
	}
	m.start(&all, s, m.chore)
	go func() {
		all.Wait()
		close(done)
	}()
	return done
}

// start opens a session and calls fn with it until the life ends.
func (m *member) start(all *sync.WaitGroup, s Settings, fn func(Session, *rand.Rand)) {
	r := rand.New(rand.NewPCG(m.rnd.Uint64(), 0))
	s.Odd = r.Uint64()
	all.Go(func() {
		c, ok := m.open(s)
		if !ok {
			return
		}
		for !m.stop.Load() {
			fn(c, r)
		}
		m.check("close", c.Close())
	})
}

func (m *member) open(s Settings) (Session, bool) {
	for !m.stop.Load() {
		c, err := m.driver.Open(m.path, s)
		if m.check("open", err) {
			return c, true
		}
	}
	return nil, false
}

// check counts an error that says busy; any other ends the member.
func (m *member) check(what string, err error) (ok bool) {
	switch {
	case err == nil:
		return true
	case !m.driver.Busy(err):
		m.fail("%s: %v", what, err)
	}
	m.busy.Add(1)
	time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond) // a busy_timeout of 0 must not be a busy loop
	return false
}

func (m *member) fail(format string, args ...any) {
	Say("! " + strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "; "))
	os.Exit(3)
}

// Say reports a line. It is written at once, because the process may be killed.
func Say(line string) {
	out.Lock()
	defer out.Unlock()
	_, _ = os.Stdout.WriteString(line + "\n")
}

var out sync.Mutex // guards the standard output

// tell reports the counts since the last time.
func (m *member) tell() {
	if n := m.busy.Swap(0); n > 0 {
		Say(fmt.Sprint("b ", n))
	}
	if n := m.looks.Swap(0); n > 0 {
		Say(fmt.Sprint("r ", n))
	}
}

// transfer runs one transaction.
func (m *member) transfer(c Session, w *writer, r *rand.Rand) {
	t := bank.Transfer{Writer: w.id, Seq: w.last + 1, From: 1 + r.IntN(bank.Accounts), To: 1 + r.IntN(bank.Accounts), Amount: r.Int64N(50), Undo: r.IntN(16) == 0}
	if r.IntN(100) == 0 {
		t.Linger = time.Duration(r.IntN(20_000)) * time.Microsecond
	}
	found, err := c.Transfer(&t)
	if !m.check("transfer", err) {
		return
	}
	if found != w.last {
		if !w.unknown || found != w.last+1 {
			m.fail("writer %d finds %d after it was told that %d is committed", w.id, found, w.last)
		}
		w.last, w.unknown = found, false
		Say(fmt.Sprintf("a %d %d", w.id, found)) // it was committed: it must not get lost from now on
		return
	}
	w.unknown = false
	if !t.Undo {
		w.last = t.Seq
		Say(fmt.Sprintf("a %d %d", w.id, t.Seq))
	}
}

// look reads one snapshot.
func (m *member) look(c Session, before []int64, r *rand.Rand) []int64 {
	l := bank.Look{Writer: r.IntN(m.all)}
	if r.IntN(4) == 0 {
		l.Linger = time.Duration(r.IntN(30_000)) * time.Microsecond
	}
	if !m.check("look", c.Look(&l)) {
		return before
	}
	if what := l.Wrong(before); what != "" {
		m.fail("a snapshot is wrong: %s", what)
	}
	m.looks.Add(1)
	time.Sleep(time.Duration(r.IntN(4000)) * time.Microsecond) // the processor is for the writers
	return l.Numbers
}

// chore does one, after a while in which other goroutines work.
func (m *member) chore(c Session, r *rand.Rand) {
	time.Sleep(time.Duration(r.IntN(50)) * time.Millisecond)
	m.tell()
	name := pick(r, m.driver.Chores()...)
	if m.check(name, c.Chore(name)) {
		Say("k " + name)
	}
}

// change tries for a while to change the journal mode.
func (m *member) change(mode string) {
	for deadline := time.Now().Add(500 * time.Millisecond); time.Now().Before(deadline); {
		c, err := m.driver.Open(m.path, m.settings())
		if !m.check("open", err) {
			continue
		}
		ok := m.check("switch", c.Switch(mode))
		m.check("close", c.Close())
		if ok {
			Say("m " + mode)
			return
		}
	}
}
