//go:build unix

package bench

import (
	"context"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// BenchmarkServer compares a volume on a server with a table of contents by name on the same
// server, with files on disk, and with a volume in a file. The floor is the least that the server
// can do: a statement without work, or the insert of a row without a name. All of them take turns
// in short slices of each case, and must give the same answers. What they write is durable when a
// call returns, apart from trees that are copied to disk. The volumes have no caches but those of
// the system.
//
//	go -C lab/contender test ./bench -run '^$' -bench Server -benchtime 1x
//
// The server is started with its data on the disk of TMPDIR, unless -server names one.
func BenchmarkServer(b *testing.B) {
	server := newServer(b)
	tree := sourceTree(b, server)
	sides := server.sides(b)
	names := fillSides(b, sides)
	server.vacuum(b)
	for _, c := range []*serverCase{
		{name: "stat", n: size(2000, 50), floor: server.selectOne, work: statFive},
		{name: "read", n: size(2000, 50), floor: server.selectOne, work: readRandom(names)},
		{name: "list", n: size(50, 5), floor: server.selectOne, work: listAll},
		{name: "create", n: size(250, 20), floor: server.insert, ready: makeDir, work: createOne, check: listMade},
		{name: "create-many", n: size(4000, 1000), floor: server.insertMany, ready: makeDir, work: createMany, check: listMade},
		{name: "create-processes", n: size(crewFiles, 1000), floor: server.insertMany, ready: startCrew, work: runCrew, check: listCrew},
		{name: "copy-in", n: tree.files, whole: true, ready: server.settle, work: tree.copyIn, check: tree.countIn},
		{name: "copy-out", n: tree.files, whole: true, ready: tree.clear, work: tree.copyOut, check: tree.sumOut},
	} {
		b.Run(c.name, func(b *testing.B) { c.run(b, sides) })
	}
	many := manySource(b)
	clone := &serverCase{name: "clone", n: 1, whole: true, ready: many.fill, work: many.clone, check: many.countClone}
	b.Run(clone.name, func(b *testing.B) {
		clone.run(b, slices.DeleteFunc(sides, func(s *serverSide) bool { return s.name == "files" }))
	})
}

// A serverCase is a piece of work, which all sides do.
type serverCase struct {
	name  string
	n     int  // how many operations are measured
	whole bool // all of them at once
	floor func(t *turn) error
	ready func(t *turn) error        // untimed, before; may be nil
	work  func(t *turn) (any, error) // returns what it has found
	check func(t *turn) (any, error) // untimed, finds what work has done; may be nil
}

// A turn is a slice of a case: n operations of one side.
type turn struct {
	*serverSide
	b    *testing.B
	n    int
	dir  string // of its own, if the case makes files
	seed uint64 // the same for all sides
	crew []*creator
}

// serverSlices are how many turns each side has in a case.
const serverSlices = 5

// run lets the sides take turns, and reports the mean time of an operation of each.
func (c *serverCase) run(b *testing.B, sides []*serverSide) {
	took := make([]time.Duration, len(sides))
	parts, first := serverSlices, -1 // the first turn is not measured: it opens connections
	if c.whole {
		parts, first = 1, 0
	}
	for i := first; i < parts; i++ {
		var want any
		for j := range sides {
			k := (i - first + j) % len(sides)
			t := &turn{serverSide: sides[k], b: b, n: c.n / parts, dir: c.name + "-" + strconv.Itoa(i-first), seed: uint64(i - first)}
			d, got, err := c.turn(t)
			if err != nil {
				b.Fatalf("%s: %v", t.name, err)
			}
			if i >= 0 {
				took[k] += d
			}
			if want == nil {
				want = got
			}
			if got != nil && got != want {
				b.Fatalf("%s: %v, want %v", t.name, got, want)
			}
		}
	}
	for k, s := range sides {
		if s.keeper != nil || c.floor != nil {
			b.Run(s.name, func(b *testing.B) { report(b, took[k].Seconds()/float64(c.n/parts*parts)) })
		}
	}
}

// report reports the seconds of an operation.
func report(b *testing.B, each float64) {
	b.ReportMetric(each*1e9, "ns/op")
	b.ReportMetric(each*1e6, "us-each")
	b.ReportMetric(each*1e3, "ms-each")
}

// turn lets a side, or the floor, do a slice. It returns nil as the answer of the floor.
func (c *serverCase) turn(t *turn) (took time.Duration, got any, err error) {
	if t.keeper == nil {
		if c.floor == nil {
			return 0, nil, nil
		}
		begun := time.Now()
		err := c.floor(t)
		return time.Since(begun), nil, err
	}
	if c.ready != nil {
		if err := c.ready(t); err != nil {
			return 0, nil, err
		}
	}
	begun := time.Now()
	got, err = c.work(t)
	took = time.Since(begun)
	if err == nil && c.check != nil {
		got, err = c.check(t)
	}
	return took, got, err
}

// The files that are there from the start.
const (
	five      = "one/two/three/four/five" // a path of five names
	readDir   = "read"
	readFiles = 1000
	readSize  = 10_000
	listDir   = "list"
	listFiles = 1000
	listSize  = 100
)

// fillSides makes the files that are read, and returns the names of those of 10 KB.
func fillSides(b *testing.B, sides []*serverSide) (names []string) {
	files := []namedContent{{five, content(five, readSize)}}
	for i := range readFiles {
		name := fmt.Sprintf("%s/%d/%d", readDir, i%10, i)
		names = append(names, name)
		files = append(files, namedContent{name, content(name, readSize)})
	}
	for i := range listFiles {
		name := fmt.Sprintf("%s/%06d", listDir, i)
		files = append(files, namedContent{name, content(name, listSize)})
	}
	for _, s := range sides {
		if s.keeper != nil {
			must(b, s.fill(files))
		}
	}
	return names
}

// content returns bytes that depend on the name of a file.
func content(name string, size int) []byte {
	var seed [32]byte
	copy(seed[:], name)
	p := make([]byte, size)
	_, _ = rand.NewChaCha8(seed).Read(p) // it never fails
	return p
}

func statFive(t *turn) (any, error) {
	var all int64
	for range t.n {
		n, err := t.stat(five)
		if err != nil {
			return nil, err
		}
		all += n
	}
	return all, nil
}

func readRandom(names []string) func(t *turn) (any, error) {
	return func(t *turn) (any, error) {
		r := rand.New(rand.NewPCG(t.seed, 0))
		var all sum
		for range t.n {
			p, err := t.read(names[r.IntN(len(names))])
			if err != nil {
				return nil, err
			}
			all.add(p)
		}
		return all, nil
	}
}

func listAll(t *turn) (any, error) {
	var all sum
	for range t.n {
		s, err := t.list(listDir)
		if err != nil {
			return nil, err
		}
		all.entries += s.entries
		all.bytes += s.bytes
	}
	return all, nil
}

func makeDir(t *turn) error { return t.mkdir(t.dir) }

// createSize is the size of a file that one client makes.
const createSize = 4096

func createOne(t *turn) (any, error) {
	return nil, repeat(t.n, func(i int) error {
		name := t.dir + "/" + strconv.Itoa(i)
		return t.create(name, content(name, createSize))
	})
}

// listMade lists the files that were made.
func listMade(t *turn) (any, error) {
	s, err := t.list(t.dir)
	return s, errors.Join(err, t.wantMade(s))
}

// wantMade returns an error unless there are as many files as a turn makes.
func (t *turn) wantMade(s sum) error {
	if s.entries != int64(t.n) {
		return fmt.Errorf("%d files were made, want %d", s.entries, t.n)
	}
	return nil
}

// A treeSource is a directory on disk that is copied to the sides and back.
type treeSource struct {
	server *benchServer
	dir    string
	out    string
	files  int
	sum    sum
}

// sourceTree is the Go distribution.
func sourceTree(b *testing.B, server *benchServer) *treeSource {
	from := build.Default.GOROOT
	if *quick {
		from = filepath.Join(from, "src", "net")
	}
	if _, err := os.Stat(from); err != nil {
		b.Skipf("no source of Go here: %v", err)
	}
	t := &treeSource{server: server, dir: filepath.Join(b.TempDir(), "tree"), out: b.TempDir()}
	must(b, os.CopyFS(t.dir, os.DirFS(from)))
	t.files = len(regular(b, os.DirFS(t.dir)))
	var err error
	t.sum, err = walk(os.DirFS(t.dir), true)
	must(b, err)
	return t
}

// copiedDir is where the tree comes to.
const copiedDir = "copied"

func (s *treeSource) copyIn(t *turn) (any, error) { return nil, t.keeper.copyIn(s.dir, copiedDir) }

// countIn counts the entries. Copying out shows their contents.
func (s *treeSource) countIn(t *turn) (any, error) {
	n, err := t.count(copiedDir)
	if err == nil && n != s.files {
		err = fmt.Errorf("%d files came, want %d", n, s.files)
	}
	return nil, err
}

func (s *treeSource) clear(t *turn) error {
	return errors.Join(os.RemoveAll(filepath.Join(s.out, "out")), s.server.settle(t))
}

func (s *treeSource) copyOut(t *turn) (any, error) {
	return nil, t.keeper.copyOut(copiedDir, filepath.Join(s.out, "out"))
}

func (s *treeSource) sumOut(*turn) (any, error) {
	got, err := walk(os.DirFS(filepath.Join(s.out, "out")), true)
	if err == nil && got != s.sum {
		err = fmt.Errorf("%v came back, want %v", got, s.sum)
	}
	return nil, err
}

// The tree that is cloned has 34,200 entries: directories, and files in each.
const (
	manyDirs   = 200
	manyPerDir = 170
	manyDir    = "many"
	manyCloned = "cloned"
)

// A manyFiles is a directory on disk of many small files.
type manyFiles struct {
	dir   string
	files int
}

func manySource(b *testing.B) *manyFiles {
	s := &manyFiles{filepath.Join(b.TempDir(), "many"), size(manyDirs, 2) * manyPerDir}
	for d := range s.files / manyPerDir {
		dir := filepath.Join(s.dir, strconv.Itoa(d))
		must(b, os.MkdirAll(dir, 0o755))
		for i := range manyPerDir {
			name := strconv.Itoa(i)
			must(b, os.WriteFile(filepath.Join(dir, name), content(name, manySize), 0o644))
		}
	}
	return s
}

func (s *manyFiles) fill(t *turn) error { return t.keeper.copyIn(s.dir, manyDir) }

func (s *manyFiles) clone(t *turn) (any, error) { return nil, t.keeper.clone(manyDir, manyCloned) }

func (s *manyFiles) countClone(t *turn) (any, error) {
	n, err := t.count(manyCloned)
	if err == nil && n != s.files {
		err = fmt.Errorf("%d files were cloned, want %d", n, s.files)
	}
	return nil, err
}

// countFiles counts the regular files of a tree.
func countFiles(fsys fs.FS, dir string) (n int, err error) {
	err = fs.WalkDir(fsys, dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		return err
	})
	return n, err
}

// errSettings says that a server does not keep what it acknowledges.
var errSettings = errors.New("the server does not sync what it commits: fsync and synchronous_commit must be on")

var background = context.Background() // cleanups use connections after the context of the benchmark
