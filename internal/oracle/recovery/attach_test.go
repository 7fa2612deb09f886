package recovery

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/oracle/judge"
)

// attachSettings are databases in two or three directories, by their journal modes. The first one
// is the main database, next to which the super-journal lies. A database in WAL mode commits for
// itself.
func attachSettings(seed uint64) (all []*setting) {
	for _, modes := range [][]string{
		{"DELETE", "DELETE"},
		{"TRUNCATE", "PERSIST"},
		{"DELETE", "TRUNCATE", "PERSIST"},
		{"WAL", "DELETE", "PERSIST"},
		{"DELETE", "WAL", "TRUNCATE"},
		{"DELETE", "WAL"},
	} {
		seed++
		all = append(all, &setting{Attached: modes, Sync: int(1 + seed%3), PageSize: 1024, Seed: seed, Steps: 3})
	}
	return all
}

// An attachCount has the counts of all processes of a run.
type attachCount struct{ killed, supers, committed, recovered atomic.Int64 }

var attachCounts attachCount

// TestAttachKill kills C SQLite at its system calls in transactions over several databases in
// several directories. Each engine recovers the files, ours first and C first. Both must find the
// same in each database, all of it or nothing of each transaction, and must leave the same files.
func TestAttachKill(t *testing.T) {
	needStrace(t)
	t.Cleanup(func() {
		c := &attachCounts
		t.Logf("killed: %d, %d with a super-journal, %d with journals whose super-journal was gone, and %d recoveries; seed %d",
			c.killed.Load(), c.supers.Load(), c.committed.Load(), c.recovered.Load(), *killSeed)
	})
	for _, s := range attachSettings(100 * *killSeed) {
		t.Run(fmt.Sprint(s.Attached, " sync=", s.Sync, " seed=", s.Seed), func(t *testing.T) {
			t.Parallel()
			a := &attacher{TB: t, setting: *s, dir: scratchDir(t), rng: rand.New(rand.NewPCG(s.Seed, 1))}
			a.Path = filepath.Join(a.dir, "killed")
			a.begin()
			a.killAll()
		})
	}
}

// paths returns the databases of a setting, each in a directory of its own.
func (s *setting) paths() (all []string) {
	for i := range s.Attached {
		all = append(all, filepath.Join(s.Path, fmt.Sprint("dir", i), baseName))
	}
	return all
}

// attachRole commits to all databases at once, and says which version is committed.
func attachRole(s *setting) (err error) {
	runtime.LockOSThread()
	c, err := judge.Open(s.paths()[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	names := []string{"main"}
	for i, path := range s.paths()[1:] {
		names = append(names, fmt.Sprint("other", i))
		if err := c.Exec("ATTACH ? AS "+names[i+1], path); err != nil {
			return err
		}
	}
	for i, name := range names {
		if err := c.Exec(fmt.Sprintf("PRAGMA %s.journal_mode=%s; PRAGMA %s.synchronous=%d", name, s.Attached[i], name, s.Sync)); err != nil {
			return err
		}
	}
	for version := range int64(s.Steps) {
		if err := attachCommit(c, names, version+1); err != nil {
			return err
		}
		if _, err := fmt.Println(version + 1); err != nil {
			return err
		}
	}
	return nil
}

func attachCommit(c *judge.Conn, names []string, version int64) error {
	if err := c.Exec("BEGIN"); err != nil {
		return err
	}
	for _, name := range names {
		err := errors.Join(
			c.Exec("UPDATE "+name+".mark SET version = ?", version),
			c.Exec("REPLACE INTO "+name+".item VALUES (?, ?, ?, zeroblob(3000))", version, fmt.Sprint("item ", version), version))
		if err != nil {
			return err
		}
	}
	return c.Exec("COMMIT")
}

// An attacher kills processes of one setting.
type attacher struct {
	testing.TB
	setting
	dir  string
	base tree
	rng  *rand.Rand
}

// begin makes the databases, with version 0.
func (a *attacher) begin() {
	a.Helper()
	a.do(tree{}.write(&a.setting))
	for i, path := range a.paths() {
		s := setting{Path: path, Engine: "c", Mode: a.Attached[i], Sync: a.Sync, PageSize: a.PageSize}
		w, err := openC(&s)
		a.do(err)
		a.do(w.run(&step{kind: create}))
		a.do(w.close())
	}
	var err error
	a.base, err = readTree(a.Path)
	a.do(err)
}

func (a *attacher) do(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

func (a *attacher) points() []killPoint {
	a.Helper()
	trace := filepath.Join(a.dir, "trace")
	a.do(a.base.write(&a.setting))
	calls := "trace=" + strings.Join(slices.Concat(changingCalls, otherCalls), ",")
	a.do(command("attach", &a.setting, "strace", "-f", "-qqq", "-o", trace, "-e", calls).Run())
	all, err := tracedPoints(trace)
	a.do(err)
	return all
}

// killAll kills a process at each point, or at some, among them each call that may delete a
// super-journal.
func (a *attacher) killAll() {
	a.Helper()
	points := a.points()
	if !*killAll {
		unlinks := slices.DeleteFunc(slices.Clone(points), func(p killPoint) bool { return p.call != "unlink" })
		points = append(unlinks, somePoints(a.rng, points)...)
	}
	for _, p := range points {
		left, acked, err := a.kill(p)
		if err == nil {
			err = a.verify(left, acked)
		}
		if err != nil {
			a.Errorf("killed at %v, having acknowledged %d: %v\nfiles: %v", p, acked, err, left.names())
			return
		}
	}
}

func (a *attacher) kill(p killPoint) (left tree, acked int64, err error) {
	if err := a.base.write(&a.setting); err != nil {
		return nil, 0, err
	}
	out, killed, err := run(command("attach", &a.setting, p.wrapper()...))
	if err == nil {
		acked, err = lastVersion(out, 0)
	}
	if err != nil {
		return nil, acked, err
	}
	left, err = readTree(a.Path)
	if killed {
		attachCounts.killed.Add(1)
	}
	return left, acked, err
}

// verify lets both engines recover the files.
func (a *attacher) verify(left tree, acked int64) (err error) {
	if a.rng.IntN(4) == 0 {
		if left, err = a.killRecovery(left); err != nil {
			return fmt.Errorf("a killed recovery: %w", err)
		}
	}
	var found [len(engines)][]content
	var files [len(engines)]tree
	for i, first := range engines {
		if found[i], files[i], err = a.recover(left, first); err != nil {
			return fmt.Errorf("recovered by %s: %w", first.name, err)
		}
		if again, _, err := a.recover(files[i], engines[1-i]); err != nil || !slices.Equal(again, found[i]) {
			return fmt.Errorf("recovered by %s, opened by %s: %w %v; before: %v", first.name, engines[1-i].name, err, again, found[i])
		}
	}
	if !slices.Equal(found[0], found[1]) {
		return fmt.Errorf("recovered by ours: %v, by C: %v", found[0], found[1])
	}
	if ours, c := files[0].names(), files[1].names(); !slices.Equal(ours, c) {
		return fmt.Errorf("ours leaves %v, C leaves %v", ours, c)
	}
	attachCounts.count(left)
	return a.atomic(found[0], acked)
}

// atomic wants to find the acknowledged version, or one version more. It must be the same in all
// databases with a rollback journal, if these share a super-journal. A database in WAL mode may
// have been committed before them.
func (a *attacher) atomic(found []content, acked int64) error {
	version := int64(noVersion)
	for i, c := range found {
		if c.version < acked || c.version > acked+1 {
			return fmt.Errorf("database %d: %v is there", i, c)
		}
		if a.Attached[i] == "WAL" {
			continue
		}
		if version != noVersion && c.version != version {
			return fmt.Errorf("half of a transaction: %v", found)
		}
		version = c.version
	}
	return nil
}

// recover lets an engine open all databases, in any order, and returns its findings and the files
// that are there then.
func (a *attacher) recover(left tree, e engine) ([]content, tree, error) {
	if err := left.write(&a.setting); err != nil {
		return nil, nil, err
	}
	paths := a.paths()
	found := make([]content, len(paths))
	for _, i := range a.rng.Perm(len(paths)) {
		c, err := e.open(paths[i])
		if err != nil {
			return nil, nil, err
		}
		found[i] = c
	}
	after, err := readTree(a.Path)
	return found, after, err
}

// killRecovery lets an engine die over the recovery of one of the databases.
func (a *attacher) killRecovery(left tree) (tree, error) {
	if err := left.write(&a.setting); err != nil {
		return nil, err
	}
	paths := a.paths()
	s := setting{Path: paths[a.rng.IntN(len(paths))], Engine: [...]string{"c", "ours"}[a.rng.IntN(2)]}
	p := killPoint{[...]string{"pwrite64", "fcntl", "unlink", "unlinkat", "ftruncate", "openat"}[a.rng.IntN(6)], 1 + a.rng.IntN(6)}
	_, killed, err := run(command("recover", &s, p.wrapper()...))
	if err != nil {
		return nil, fmt.Errorf("at %v of %s: %w", p, s.Engine, err)
	}
	if killed {
		attachCounts.recovered.Add(1)
	}
	return readTree(a.Path)
}

// A tree is the files of a directory and of those below it, by name.
type tree map[string][]byte

func readTree(dir string) (tree, error) {
	t := make(tree)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			t[name], err = os.ReadFile(path)
		}
		return err
	})
	return t, err
}

// write makes the directories of a setting's databases, with nothing but the files.
func (t tree) write(s *setting) error {
	err := os.RemoveAll(s.Path)
	for _, path := range s.paths() {
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o777))
	}
	for name, data := range t {
		err = errors.Join(err, os.WriteFile(filepath.Join(s.Path, name), data, 0o666))
	}
	return err
}

func (t tree) names() []string { return slices.Sorted(maps.Keys(t)) }

// supers reports whether there is a super-journal, and whether a journal names one.
func (t tree) supers() (there, named bool) {
	for name, data := range t {
		there = there || strings.Contains(name, "-mj")
		if strings.HasSuffix(name, "-journal") {
			_, ok := format.SuperJournal(data[max(0, len(data)-format.SuperJournalTail):])
			named = named || ok
		}
	}
	return there, named
}

func (c *attachCount) count(left tree) {
	switch there, named := left.supers(); {
	case there:
		c.supers.Add(1)
	case named:
		c.committed.Add(1)
	}
}
