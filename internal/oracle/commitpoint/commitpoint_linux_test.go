package commitpoint

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
)

var stride = flag.Int("stride", 61, "let every so manieth system call fail in TestCommitPoint; 1 for all")

// faults are the errors of system calls.
var faults = []string{"EACCES", "EIO", "ENOSPC", "EMFILE", "ENOMEM", "ESTALE"}

const calls = "openat,newfstatat,fstat,lstat,stat,statx,access,faccessat,faccessat2,fcntl,pread64,pwrite64,fdatasync,fsync,ftruncate,unlink,unlinkat," +
	"close,statfs,fstatfs,fallocate,lseek,read,write,fchmod,fchown,readlink,readlinkat,mmap,rename,renameat"

// A point is a system call of a commit.
type point struct {
	call   string
	n      int    // of the calls of this name in the process
	target string // the ending of the name of the file: "db", "db-wal", or "directory"
}

// A fate is what came of a commit.
type fate struct {
	commit, next string // "ok", "failed ..." or "unknown ..."
	count        string // rows that this process saw after the commit
	rows         int    // that C SQLite found at last
}

// TestCommitPoint lets each system call of a commit fail once in each way, in all modes and
// durabilities, with and without the rights of root. Update returns an error exactly if nothing of
// the commit has happened, or the error matches ErrFailed, after a failed sync. And the connection
// goes on wherever that of C SQLite does with the same fault, unless a sync has failed.
func TestCommitPoint(t *testing.T) {
	if !judge.Available {
		t.Skip("C SQLite: no C compiler in this build")
	}
	if os.Getuid() != 0 {
		t.Skip("a user without rights: only root can start one")
	}
	if out, err := exec.Command("strace", "-qqq", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("no strace to let system calls fail: %v %s", err, out)
	}
	l := newLaboratory(t)
	for _, mode := range []string{"wal", "delete", "truncate", "persist"} {
		for _, durability := range []string{"off", "normal", "full", "extra"} {
			for _, begun := range []bool{false, true} {
				for _, root := range []bool{true, false} {
					l.compare(setting{mode: mode, durability: durability, begun: begun}, root)
				}
			}
		}
	}
	t.Logf("%d runs of ours, %d of C; %d faults hit no call of the commit; C ends where ours goes on: %d", l.runs["ours"], l.runs["c"], l.missed, l.better)
}

type laboratory struct {
	t       *testing.T
	dir     string // with the program
	turn    int
	runs    map[string]int
	missed  int
	better  int
	program string
}

func newLaboratory(t *testing.T) *laboratory {
	dir, err := os.MkdirTemp("", "folio")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l := &laboratory{t: t, dir: dir, program: filepath.Join(dir, "test"), runs: map[string]int{}}
	err = os.Chmod(dir, 0o777)
	if err == nil && os.Link(os.Args[0], l.program) != nil {
		var content []byte
		content, err = os.ReadFile(os.Args[0])
		err = errors.Join(err, os.WriteFile(l.program, content, 0o755))
	}
	if err = errors.Join(err, os.Chmod(l.program, 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"wal", "delete"} {
		c, err := judge.Open(l.template(mode))
		if err == nil {
			err = errors.Join(c.Exec("PRAGMA journal_mode="+mode+"; CREATE TABLE t (a)"), c.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// template is the name of a database to start from.
func (l *laboratory) template(mode string) string {
	if mode != "wal" {
		mode = "delete"
	}
	return filepath.Join(l.dir, mode)
}

// compare lets the calls of a commit by both engines fail.
func (l *laboratory) compare(s setting, root bool) {
	goesOn := map[string]bool{} // by call, target and fault: the connection of C has gone on
	for _, engine := range []string{"c", "ours"} {
		s.engine = engine
		points, healthy := l.points(s, root)
		if healthy.commit != "ok" || healthy.next != "ok" {
			l.t.Errorf("%+v root=%v: without a fault: %+v", s, root, healthy)
			continue
		}
		for _, p := range points {
			for _, fault := range faults {
				if l.turn++; engine == "ours" && l.turn%*stride != 0 || engine == "c" && *stride > 1 {
					continue
				}
				f, hit := l.run(s, root, fmt.Sprintf("inject=%s:error=%s:when=%d", p.call, fault, p.n))
				l.runs[engine]++
				if !hit {
					l.missed++
					continue
				}
				key := p.call + " " + p.target + " " + fault
				if engine == "c" {
					goesOn[key] = goesOn[key] || f.next == "ok"
					continue
				}
				if wrong := f.wrong(s); wrong != "" {
					l.t.Errorf("%+v root=%v: %v %s: %s: %+v", s, root, p, fault, wrong, f)
				}
				c, known := goesOn[key]
				switch failedSync := strings.HasPrefix(f.commit, "unknown") || strings.Contains(f.next, "close the database"); {
				case f.next != "ok" && (c || !known) && !failedSync:
					l.t.Errorf("%+v root=%v: %v %s: the connection does not go on: %+v", s, root, p, fault, f)
				case f.next == "ok" && known && !c:
					l.better++
				}
				if strings.HasPrefix(f.commit, "unknown") && !strings.HasPrefix(p.call, "f") {
					l.t.Errorf("%+v root=%v: %v %s: no sync has failed: %+v", s, root, p, fault, f)
				}
			}
		}
	}
}

// wrong returns what is wrong with the answer to a commit.
func (f fate) wrong(s setting) string {
	rows := f.rows
	if s.begun {
		rows--
	}
	if f.next == "ok" {
		rows--
	}
	switch {
	case strings.HasPrefix(f.commit, "unknown"):
		return ""
	case f.commit == "ok" && (rows != 1 || f.count != "1"):
		return "a commit that was acknowledged is not there"
	case f.commit != "ok" && (rows != 0 || f.count != "0"):
		return "a commit that failed has happened"
	}
	return ""
}

// points returns the system calls of a commit, and its fate if none of them fails.
func (l *laboratory) points(s setting, root bool) (points []point, healthy fate) {
	healthy, _ = l.run(s, root, "trace="+calls)
	text, err := os.ReadFile(l.trace())
	if err != nil {
		l.t.Fatal(err)
	}
	counts := map[string]int{}
	within := false
	for line := range strings.Lines(string(text)) {
		call, rest, ok := strings.Cut(line, "(")
		if !ok {
			continue
		}
		counts[call]++
		switch {
		case strings.Contains(rest, beginMarker):
			within = true
		case strings.Contains(rest, endMarker):
			return points, healthy
		case within && strings.Contains(rest, l.database()):
			points = append(points, point{call, counts[call], target(rest, l.database())})
		}
	}
	l.t.Fatalf("no end of the commit in the trace of %+v", s)
	return nil, healthy
}

// target returns the file that a call is about.
func target(rest, database string) string {
	at := strings.LastIndex(rest, database)
	name := rest[at+len(filepath.Dir(database)):]
	name = name[:strings.IndexAny(name, "\">")]
	return strings.TrimPrefix(name, "/")
}

func (l *laboratory) trace() string { return filepath.Join(l.dir, "trace") }

// database is in a directory of its own, whose name is in each trace of it.
func (l *laboratory) database() string { return filepath.Join(l.dir, "place", "db") }

// run lets a process commit. Hit reports whether a call of the commit has failed.
func (l *laboratory) run(s setting, root bool, expression string) (f fate, hit bool) {
	path := l.database()
	place := filepath.Dir(path)
	content, err := os.ReadFile(l.template(s.mode))
	err = errors.Join(err, os.RemoveAll(place), os.RemoveAll(l.trace()), os.Mkdir(place, 0o755), os.WriteFile(path, content, 0o644))
	cmd := exec.Command("strace", "-qq", "-y", "-o", l.trace(), "-e", "trace="+calls, "-e", expression, l.program)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%s|%s|%s", processVariable, s.engine, s.mode, s.durability, map[bool]string{true: "begun", false: "new"}[s.begun], path), "GODEBUG=asyncpreemptoff=1")
	cmd.Dir = "/"
	if !root {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		err = errors.Join(err, os.Chown(path, 65534, 65534), os.Chmod(place, 0o733))
	}
	if err != nil {
		l.t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	lines := strings.Split(string(out), "\n")
	value := func(name string) string {
		i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, name+": ") })
		if i < 0 {
			return fmt.Sprintf("no answer (%v, %.300s)", err, out)
		}
		return strings.TrimPrefix(lines[i], name+": ")
	}
	f = fate{commit: value("commit"), next: value("next"), count: value("count")}
	c, err := judge.Open(path)
	if err == nil {
		f.rows, err = countRows(c)
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		l.t.Errorf("%+v: %s: the judge: %v", s, expression, err)
	}
	return f, l.hit()
}

// hit reports whether the call that failed was one of the commit.
func (l *laboratory) hit() bool {
	text, err := os.ReadFile(l.trace())
	if err != nil {
		l.t.Fatal(err)
	}
	begin, end := strings.Index(string(text), beginMarker), strings.Index(string(text), endMarker)
	at := strings.Index(string(text), "(INJECTED)")
	return begin >= 0 && at > begin && (end < 0 || at < end)
}
