//go:build cgo

package walreset

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
)

// engine is the directory of the package that the tests change: that of the write-ahead log.
const engine = "../../../internal/wal"

// A change replaces a piece of a file of the engine.
type change struct{ file, old, new string }

var (
	// stop lets our checkpointer wait where C SQLite has fault point 660, once no reader of its
	// process is left.
	stop = change{
		"checkpoint.go", "\tif copied = w.Index.Backfill(); copied > h.MaxFrame {",
		"\tstopHere(w)\n\tif copied = w.Index.Backfill(); copied > h.MaxFrame {",
	}
	// noSalt lets our checkpointer go on whatever happened to the log meanwhile (W6).
	noSalt = change{"checkpoint.go", "live.Salt != h.Salt", "live.Salt != live.Salt"}
	// noTry lets our writer restart the log under a checkpointer.
	noTry = change{
		"checkpoint.go",
		"\terr := w.Index.Lock(osfile.Exclusive, format.WALCheckpointLock, 1)\n\tif err != nil {\n\t\treturn false, dberr.IgnoreLocked(err)\n\t}\n" +
			"\tdefer w.Index.Unlock(format.WALCheckpointLock, 1)\n\tif err := w.Index.Lock(osfile.Exclusive, format.WALReadLock+1",
		"\tif err := w.Index.Lock(osfile.Exclusive, format.WALReadLock+1",
	}
)

// stopFile has the function that stop calls.
const stopFile = `package wal

import (
	"bufio"
	"fmt"
	"os"
	"runtime"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

func stopHere(w *Log) {
	for w.Index.Lock(osfile.Exclusive, format.WALReadLock, 1) != nil {
		runtime.Gosched()
	}
	w.Index.Unlock(format.WALReadLock, 1)
	fmt.Println("stopped")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}
`

// build builds our program with changes in the engine.
func build(t *testing.T, changes ...change) (program string) {
	t.Helper()
	dir := t.TempDir()
	sources := map[string]string{"stop_here.go": stopFile}
	for _, c := range changes {
		if sources[c.file] == "" {
			b, err := os.ReadFile(filepath.Join(engine, c.file))
			if err != nil {
				t.Fatal(err)
			}
			sources[c.file] = string(b)
		}
		if strings.Count(sources[c.file], c.old) != 1 {
			t.Fatalf("%s does not have this once, which the test changes:\n%s", c.file, c.old)
		}
		sources[c.file] = strings.Replace(sources[c.file], c.old, c.new, 1)
	}
	replace := make(map[string]string)
	for name, text := range sources {
		from, err := filepath.Abs(filepath.Join(engine, name))
		if err != nil {
			t.Fatal(err)
		}
		replace[from] = filepath.Join(dir, name)
		if err := os.WriteFile(replace[from], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "ours")
	cmd := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "./ours")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// A database is a database in WAL mode, all of whose log is copied back, so that the next writer
// restarts it.
type database struct {
	t    *testing.T
	path string
	c    *judge.Conn
	rows int
}

func newDatabase(t *testing.T) *database {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command to build our program with")
	}
	d := &database{t: t, path: filepath.Join(t.TempDir(), "db")}
	d.c = d.open()
	for _, s := range []string{"PRAGMA journal_mode = WAL", "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)"} {
		d.exec(s)
	}
	d.insert(10)
	d.exec("PRAGMA wal_checkpoint(PASSIVE)")
	return d
}

// open opens another connection of C SQLite that starts no checkpoint by itself.
func (d *database) open() *judge.Conn {
	c, err := judge.Open(d.path)
	if err == nil {
		err = c.Exec("PRAGMA wal_autocheckpoint = 0")
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

func (d *database) exec(statement string) {
	d.t.Helper()
	if err := d.c.Exec(statement); err != nil {
		d.t.Fatal(err)
	}
}

// insert lets C SQLite insert rows, each in a transaction of its own. They make the file longer.
func (d *database) insert(n int) {
	for range n {
		d.exec("INSERT INTO t(text) VALUES (printf('%.3000c', 'x'))")
	}
	d.rows += n
}

// salts returns the bytes that tell one log from the one before.
func (d *database) salts() string {
	b, err := os.ReadFile(d.path + "-wal")
	if err != nil || len(b) < 32 {
		d.t.Fatalf("the log has %d bytes, %v", len(b), err)
	}
	return string(b[16:24])
}

// wrong returns C SQLite's findings about the database, now and once all of the log is copied back;
// "" if there are none.
func (d *database) wrong() string {
	found := d.look()
	if err := d.c.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return fmt.Sprint(found, err)
	}
	return found + d.look()
}

func (d *database) look() string {
	c := d.open() // without a cache
	defer c.Close()
	found, err := c.Strings(d.t.Context(), "PRAGMA integrity_check")
	if err != nil || len(found) != 1 || found[0] != "ok" {
		return fmt.Sprintf("%.200q, %v; ", found, err)
	}
	n, err := c.Strings(d.t.Context(), "SELECT count(*) FROM t WHERE length(text) = 3000")
	if err != nil || n[0] != fmt.Sprint(d.rows) {
		return fmt.Sprintf("%s rows, not %d, %v; ", n, d.rows, err)
	}
	return ""
}

// commit lets our program insert rows while a checkpointer of C SQLite has read the header of the
// index, and nothing else. It reports whether the log was restarted meanwhile.
func (d *database) commit(program string, n int) (anew bool) {
	d.t.Helper()
	stopped, proceed, over := make(chan bool), make(chan bool), make(chan error)
	if err := stopCheckpoint(func() { close(stopped); <-proceed }); err != nil {
		d.t.Fatal(err)
	}
	checkpointer := d.open()
	defer checkpointer.Close()
	go func() { over <- checkpointer.Exec("PRAGMA wal_checkpoint(PASSIVE)") }()
	<-stopped
	before := d.salts()
	out, err := exec.Command(program, d.path, "commit", fmt.Sprint(n)).CombinedOutput()
	anew = d.salts() != before
	close(proceed)
	if e := <-over; err != nil || e != nil {
		d.t.Fatalf("ours: %v, %s; C: %v", err, out, e)
	}
	d.rows += n
	return anew
}

// checkpoint lets C SQLite insert rows while our program has read the header of the index, and
// nothing else, and returns the program's output when it has gone on.
func (d *database) checkpoint(program string, n int) (says string) {
	d.t.Helper()
	cmd := exec.Command(program, d.path, "checkpoint")
	in, err := cmd.StdinPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	r := bufio.NewReader(out)
	if line, err := r.ReadString('\n'); line != "stopped\n" {
		d.t.Fatalf("ours: %q, %v", line, err)
	}
	before := d.salts()
	d.insert(n)
	if d.salts() == before {
		d.t.Fatal("the log did not begin anew")
	}
	if err := in.Close(); err != nil {
		d.t.Fatal(err)
	}
	rest, err := io.ReadAll(r)
	if err != nil {
		d.t.Fatal(err)
	}
	_ = cmd.Wait() // it says what went wrong
	return strings.TrimSpace(string(rest))
}

// TestCheckpointOfC: our engine must not restart a log under a checkpointer, because an old SQLite
// would write the new log over the database.
func TestCheckpointOfC(t *testing.T) {
	d := newDatabase(t)
	if d.commit(build(t), 20) {
		t.Error("the log began anew under a checkpointer")
	}
	if what := d.wrong(); what != "" {
		t.Error(what)
	}
}

// TestCheckpointOfCUnguarded: without that care the log is restarted there, and the SQLite of today
// notices.
func TestCheckpointOfCUnguarded(t *testing.T) {
	d := newDatabase(t)
	if !d.commit(build(t, noTry), 20) {
		t.Error("the log did not begin anew: nothing is proved")
	}
	if what := d.wrong(); what != "" {
		t.Error(what)
	}
}

// TestCheckpointOfOurs: our checkpointer notices that the log began anew (W6).
func TestCheckpointOfOurs(t *testing.T) {
	d := newDatabase(t)
	if says := d.checkpoint(build(t, stop), 20); says != "done" {
		t.Error(says)
	}
	if what := d.wrong(); what != "" {
		t.Error(what)
	}
}

// TestCheckpointOfOursUnguarded: if it did not, it would copy from the new log what the old one had
// there. That damages the database, or is found out when a frame is not that of the page which it
// should be.
func TestCheckpointOfOursUnguarded(t *testing.T) {
	d := newDatabase(t)
	says := d.checkpoint(build(t, stop, noSalt), 20)
	what := d.wrong()
	if what == "" && says == "done" {
		t.Error("nothing went wrong: the test of W6 proves nothing")
	}
	t.Logf("as it must be: %s; %s", says, what)
}
