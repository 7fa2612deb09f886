package main

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/value"
	"github.com/foliofs/folio/internal/must"
)

var (
	coreutilsOps  = flag.Int("coreutils.ops", 300, "operations of the comparison with coreutils")
	coreutilsSeed = flag.Uint64("coreutils.seed", 0, "seed of the comparison with coreutils; 0 for another each time")
)

// A pair is a directory on disk, where coreutils work, and a volume, where folio does the same.
type pair struct {
	*testing.T
	rand             *rand.Rand
	dir, volume      string
	outside, scratch string   // a tree to copy from; a place for copies out of the two
	names            []string // what is there
	log              []string
}

// TestCoreutils runs the file commands of the system and those of folio side by side, with random
// arguments: they succeed together, and make the same trees of it. What folio refuses changes
// nothing. One more:
//
//	go -C cmd/folio test -run TestCoreutils -coreutils.ops 20000 -timeout 1h
func TestCoreutils(t *testing.T) {
	t.Parallel()
	needCoreutils(t)
	seed := coreutilsSeedOf(t)
	for left := *coreutilsOps; left > 0 && !t.Failed(); left -= pairOps {
		newPair(t, rand.New(rand.NewPCG(seed, uint64(left)))).run(min(left, pairOps))
	}
}

const pairOps = 150 // with one volume

func needCoreutils(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("cp", "--version").Output(); err != nil || !bytes.Contains(out, []byte("GNU coreutils")) {
		t.Skip("no GNU coreutils")
	}
}

// coreutilsSeedOf returns the seed of a test, and logs it.
func coreutilsSeedOf(t *testing.T) uint64 {
	seed := *coreutilsSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-coreutils.seed %d", seed)
	return seed
}

func newPair(t *testing.T, r *rand.Rand) *pair {
	d := t.TempDir()
	p := &pair{
		T: t, rand: r, dir: filepath.Join(d, "dir"), volume: filepath.Join(d, "v.folio"),
		outside: filepath.Join(d, "outside"), scratch: filepath.Join(d, "scratch"),
	}
	must.Do(p, os.Mkdir(p.dir, 0o755), os.MkdirAll(filepath.Join(p.outside, "s", "sub"), 0o750), os.Mkdir(filepath.Join(p.outside, "t"), 0o700), os.Mkdir(p.scratch, 0o755))
	for i, name := range []string{"a", "b", "s/a", "s/c", "t/h"} {
		file := filepath.Join(p.outside, name)
		content := bytes.Repeat([]byte(name), 1<<(4*i))
		must.Do(p, os.WriteFile(file, content, fs.FileMode(0o600|i*0o11)), os.Chtimes(file, p.oldTime(), p.oldTime()))
	}
	must.Do(p,
		os.Symlink("a", filepath.Join(p.outside, "s", "l")), os.Link(filepath.Join(p.outside, "t", "h"), filepath.Join(p.outside, "t", "i")),
		os.Truncate(filepath.Join(p.outside, "s", "c"), 200<<10),
	)
	mustRun(t, "mkdir", "-p", "--create", p.volume)
	return p
}

// oldTime is a time that no operation leaves by itself.
func (p *pair) oldTime() time.Time { return time.Unix(1e9+p.rand.Int64N(1e8), p.rand.Int64N(1e9)) }

func (p *pair) run(ops int) {
	before := p.lines(p.readDir(p.dir))
	for range ops {
		must.Do(p, exec.Command("cp", "-a", p.dir, p.dir+".before").Run())
		p.names = p.names[:0]
		for _, line := range before {
			name, _, _ := strings.Cut(line, " ")
			p.names = append(p.names, name)
		}
		op := p.operation()
		for p.absurd(op) {
			op = p.operation()
		}
		if !p.same(op) || p.Failed() {
			p.Errorf("on\n%s\nafter\n%s", strings.Join(before, "\n"), p.history())
			return
		}
		if !op.succeeded { // coreutils may have gone half of the way
			must.Do(p, os.RemoveAll(p.dir), os.Rename(p.dir+".before", p.dir))
		}
		after := p.lines(p.readVolume())
		want := p.lines(p.readDir(p.dir))
		if d := difference(after, want); d != "" {
			p.Errorf("%s\n%s\non\n%s\nafter\n%s", op, d, strings.Join(before, "\n"), p.history())
			return
		}
		if !op.succeeded && difference(before, after) != "" {
			p.Errorf("%s failed and changed something: %s", op, difference(before, after))
		}
		before = after
		must.Do(p, os.RemoveAll(p.dir+".before"))
	}
	if got := mustRun(p.T, "check", p.volume); !strings.Contains(got, ": ok: ") {
		p.Error(got)
	}
}

// history is what happened last.
func (p *pair) history() string { return strings.Join(p.log[max(0, len(p.log)-30):], "\n") }

// An operation is one command with its arguments.
type operation struct {
	args      []argument
	out       bool // the last one is in the scratch directory
	succeeded bool
}

// An argument is a word, or a path in the directory and the volume.
type argument struct {
	text string
	kind int
}

const (
	word = iota
	inTree
	inOutside
	inScratch
)

func (o *operation) String() string {
	var words []string
	for _, a := range o.args {
		words = append(words, [...]string{"", ":", "outside/", "scratch/"}[a.kind]+a.text)
	}
	return strings.Join(words, " ")
}

// same runs an operation on both sides and compares how they end.
func (p *pair) same(op *operation) bool {
	var theirs, ours []string
	copies := [2]string{filepath.Join(p.scratch, "theirs"), filepath.Join(p.scratch, "ours")}
	for _, a := range op.args {
		switch a.kind {
		case word:
			theirs, ours = append(theirs, a.text), append(ours, a.text)
		case inTree:
			theirs, ours = append(theirs, a.text), append(ours, p.volume+":"+a.text)
		case inOutside:
			theirs, ours = append(theirs, "../outside/"+a.text), append(ours, p.outside+"/"+a.text)
		case inScratch:
			theirs, ours = append(theirs, copies[0]+"/"+a.text), append(ours, copies[1]+"/"+a.text)
		}
	}
	if op.out {
		for _, dir := range copies {
			must.Do(p, os.RemoveAll(dir), os.MkdirAll(dir+"/d/a", 0o755), os.WriteFile(dir+"/f", []byte("old"), 0o640), os.Chtimes(dir+"/f", p.oldTime(), time.Unix(1e9, 0)),
				os.Symlink("f", dir+"/tofile"), os.Symlink("d", dir+"/todir"), os.Symlink("none", dir+"/tonone"))
		}
	}
	cmd := exec.Command(theirs[0], theirs[1:]...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	text, err := cmd.CombinedOutput()
	if bytes.Contains(text, []byte("will not create hard link")) { // of a directory that it meets twice in one command: we copy it twice
		return true
	}
	var stderr strings.Builder
	code := run(p.Context(), ours, nil, new(bytes.Buffer), &stderr)
	op.succeeded = err == nil
	p.log = append(p.log, fmt.Sprintf("%s\n\t%s\n\t%s", op, bytes.TrimSpace(text), strings.TrimSpace(stderr.String())))
	if op.succeeded != (code == exitOK) {
		p.Errorf("%s: %v, exit code %d", op, err, code)
		return false
	}
	if op.out && op.succeeded {
		if d := difference(p.lines(p.readDir(copies[1])), p.lines(p.readDir(copies[0]))); d != "" {
			p.Errorf("%s: the copies differ: %s", op, d)
			return false
		}
	}
	return true
}

// A treeFile is what is compared of a file.
type treeFile struct {
	mode    fs.FileMode
	mtime   time.Time
	content string
	links   uint64
	id      uint64
}

func (p *pair) readDir(dir string) map[string]treeFile {
	files := make(map[string]treeFile)
	must.Do(p, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		st := info.Sys().(*syscall.Stat_t)
		f := treeFile{mode: info.Mode(), mtime: info.ModTime(), links: uint64(st.Nlink), id: st.Ino}
		f.content, err = contentOf(info.Mode(), func() ([]byte, error) { return os.ReadFile(name) }, func() (string, error) { return os.Readlink(name) })
		files[rel] = f
		return err
	}))
	return files
}

func (p *pair) readVolume() map[string]treeFile {
	files := make(map[string]treeFile)
	loc := location.Parse(p.volume)
	must.Do(p, loc.View(p.Context(), func(rx *folio.Rx) error {
		return listing.Walk(loc, rx, func(e *listing.Entry) (err error) {
			n := &e.Node
			f := treeFile{mode: e.Mode, mtime: time.Unix(0, n.Mtime), links: uint64(n.Nlink), id: n.Ino}
			f.content, err = contentOf(e.Mode, func() ([]byte, error) { return rx.ReadFile(e.Path) }, func() (string, error) { return rx.Readlink(e.Path) })
			files[e.Path] = f
			return err
		})
	}))
	return files
}

func contentOf(mode fs.FileMode, read func() ([]byte, error), readlink func() (string, error)) (string, error) {
	switch mode.Type() {
	case 0:
		data, err := read()
		return string(data), err
	case fs.ModeSymlink:
		return readlink()
	}
	return "", nil
}

// lines describes files, sorted. Times are told where they were set to something old, and not
// "now".
func (p *pair) lines(files map[string]treeFile) []string {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	first := make(map[uint64]string)
	lines := make([]string, 0, len(files))
	for _, name := range names {
		f := files[name]
		when := ""
		if f.mtime.Before(time.Unix(1.5e9, 0)) {
			when = f.mtime.UTC().Format(time.RFC3339Nano)
		}
		same := ""
		if !f.mode.IsDir() && f.links > 1 {
			if first[f.id] == "" {
				first[f.id] = name
			}
			same = first[f.id]
		}
		content := f.content
		if len(content) > 40 {
			content = fmt.Sprintf("%.40s... %d", content, len(content))
		}
		lines = append(lines, fmt.Sprintf("%s %v %q %d %s %s", name, f.mode, content, f.links, same, when))
	}
	return lines
}

// difference returns the lines that one side has and the other has not.
func difference(got, want []string) string {
	var b strings.Builder
	for _, line := range got {
		if !slices.Contains(want, line) {
			fmt.Fprintf(&b, "got  %s\n", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			fmt.Fprintf(&b, "want %s\n", line)
		}
	}
	return b.String()
}

// operation returns a random one.
func (p *pair) operation() *operation {
	type generator struct {
		weight int
		make   func() *operation
	}
	all := []generator{
		{2, func() *operation { return p.op("mkdir", p.flags("-p", "-m750", "-mu=rwx,go-w"), p.paths(2)) }},
		{2, func() *operation { return p.op("rm", p.flags("-r", "-f", "-d"), p.plain(p.paths(2))) }},
		{3, func() *operation { return p.op("rm", p.flags("-f"), p.plain(p.paths(1))) }},
		{5, func() *operation { return p.op("mv", p.flags("-T"), p.paths(2), p.path()) }},
		{2, func() *operation {
			return p.op("mv", []argument{{"-n", word}}, p.plain(p.paths(2)), p.path())
		}},
		{8, func() *operation {
			return p.op("cp", p.flags("-r", "-a", "-p", "-n", "-T", "-r"), p.paths(2), p.path())
		}},
		{5, func() *operation {
			return p.op("cp", p.flags("-r", "-a", "-p", "-n", "-T", "-r"), p.outsiders(), p.path())
		}},
		{2, func() *operation { // not of t with its hard links: GNU links a copy to one that -u passes over, even without -a
			list := slices.DeleteFunc(p.outsiders(), func(a argument) bool { return a.text == "t" })
			return p.op("cp", []argument{{"-u", word}}, p.flags("-r", "-p", "-T"), list, p.path())
		}},
		{3, p.copyOut},
		{3, func() *operation { return p.op("ln", p.flags("-f", "-T"), p.paths(2), p.path()) }},
		{4, func() *operation { return p.op("ln", []argument{{"-s", word}}, p.flags("-T"), p.targets(), p.path()) }},
		{2, func() *operation {
			return p.op("ln", []argument{{"-sf", word}}, p.flags("-T"), []argument{{"z/none", word}}, p.path())
		}},
		{4, func() *operation { return p.op("chmod", p.flags("-R"), p.mode(), p.paths(2)) }},
		{5, func() *operation { return p.op("touch", p.flags("-c", "-a", "-m"), p.date(), p.paths(2)) }},
	}
	total := 0
	for _, g := range all {
		total += g.weight
	}
	if len(p.names) > 50 {
		return p.op("rm", []argument{{"-r", word}}, p.path())
	}
	n := p.rand.IntN(total)
	for _, g := range all {
		if n -= g.weight; n < 0 {
			return g.make()
		}
	}
	panic("unreachable")
}

func (p *pair) op(name string, parts ...[]argument) *operation {
	return &operation{args: append([]argument{{name, word}}, slices.Concat(parts...)...)}
}

func (p *pair) copyOut() *operation {
	dest := []string{"", "new", "d", "d/", "f", "d/a", "none/x", "new/", "tofile", "todir", "tonone", "todir/"}[p.rand.IntN(12)]
	o := p.op("cp", p.flags("-r", "-a", "-p", "-n", "-T", "-r"), p.paths(2), []argument{{dest, inScratch}})
	o.out = true
	return o
}

// flags returns some of those given.
func (p *pair) flags(all ...string) (some []argument) {
	for _, f := range all {
		if p.rand.IntN(3) == 0 {
			some = append(some, argument{f, word})
		}
	}
	return some
}

// paths returns some different paths, mostly one.
func (p *pair) paths(most int) (list []argument) {
	for n := 1 + p.rand.IntN(most)*p.rand.IntN(2); n > 0; n-- {
		if next := p.path()[0]; !slices.ContainsFunc(list, func(a argument) bool { return path.Clean(a.text) == path.Clean(next.text) }) {
			list = append(list, next)
		}
	}
	return list
}

// path returns a path, mostly of something that is there or could be made.
func (p *pair) path() []argument {
	elems := make([]string, 1+p.rand.IntN(3))
	for i := range elems {
		elems[i] = p.name()
	}
	name := strings.Join(elems, "/")
	switch p.rand.IntN(8) {
	case 0, 1, 2, 3:
		name = p.names[p.rand.IntN(len(p.names))]
	case 4, 5:
		name = path.Join(p.names[p.rand.IntN(len(p.names))], p.name())
	}
	switch p.rand.IntN(20) {
	case 0:
		name += "/"
	case 1:
		name += "/."
	case 2:
		name = "./" + name
	}
	return []argument{{name, inTree}}
}

// plain returns names in place of paths.
func (p *pair) plain(list []argument) []argument {
	for i := range list {
		if list[i].text = path.Clean(list[i].text); list[i].text == "." {
			list[i].text = p.name()
		}
	}
	return list
}

func (p *pair) name() string { return string(rune('a' + p.rand.IntN(5))) }

func (p *pair) outsiders() []argument {
	list := []string{"a", "b", "s/c", "t/h", "none"}
	p.rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	list = append(list[:p.rand.IntN(3)], []string{"s", "s/sub", "s/l", "s/", "s/.", "t"}[p.rand.IntN(6)])
	var args []argument
	for _, name := range list[:max(1, len(list)-p.rand.IntN(2))] {
		args = append(args, argument{name, inOutside})
	}
	return args
}

func (p *pair) targets() []argument {
	list := []string{"a", "b", "c/d", "./e", "a/b", "none", "d/"}
	return []argument{{list[p.rand.IntN(len(list))], word}}
}

// mode returns a mode that does not keep the user out. TestChmodLikeCoreutils has the others; and
// what cp -p makes of setuid and its like depends on the system.
func (p *pair) mode() []argument {
	list := []string{"700", "755", "0640", "u+x", "go-w", "a+rX", "g=u", "o=", "+x", "=rwx", "u=rwx,g=rx,o=x"}
	return []argument{{list[p.rand.IntN(len(list))], word}}
}

func (p *pair) date() []argument {
	if p.rand.IntN(3) == 0 {
		return nil
	}
	return []argument{{"-d", word}, {p.oldTime().UTC().Format("2006-01-02T15:04:05.999999999Z"), word}}
}

// TestChmodLikeCoreutils compares modes before and after with those of the system's chmod.
func TestChmodLikeCoreutils(t *testing.T) {
	t.Parallel()
	needCoreutils(t)
	dir := t.TempDir()
	files := chmodFiles(t, dir)
	modes := []string{
		"0", "7", "644", "0755", "4755", "2750", "1777", "00755", "07777", "u+x", "g-w", "o=", "a=r", "+x", "+w", "=rw", "-x", "u=g", "go=u", "g+o", "u-u",
		"a+X", "X", "=X", "u+s", "g+s", "ug-s", "+t", "o+t", "u+t", "a=", "u=rwxs", "g=s", "=", "u=rw,go=r", "u+x,u-x", "u+r-w+x", "a-r+w", "ug+rwXst", "o-t,g+X", "u=o+x",
		"+755", "=644", "-111", "u+7", "8", "99999", "u", "u+", "+", "u+y", "x+u", "u+x,", ",", "u+x,,g+x", "", "rwx", "u+ug", "+r+7", "+7+r", "u=7", "010000", "=4000", "-s", "+st",
	}
	for _, mode := range modes {
		for name, before := range files {
			theirs, ok := chmodTheirs(t, filepath.Join(dir, name), mode, before)
			change, err := value.ParseMode(mode)
			if ok != (err == nil) {
				t.Errorf("chmod %q: %v, theirs succeeds: %v", mode, err, ok)
				break
			}
			if !ok {
				continue
			}
			if ours := change.Apply(before, value.Umask); ours != theirs {
				t.Errorf("chmod %q of %v: %v, theirs makes it %v", mode, before, ours, theirs)
			}
		}
	}
}

// chmodFiles makes files and directories of many modes.
func chmodFiles(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	files := make(map[string]fs.FileMode)
	for i, mode := range []fs.FileMode{0, 0o644, 0o711, 0o777, 0o600 | fs.ModeSetuid, 0o2 | fs.ModeSetgid, 0o751 | fs.ModeSticky, 0o40 | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky} {
		file, sub := fmt.Sprint("f", i), fmt.Sprint("d", i)
		files[file], files[sub] = mode, mode|fs.ModeDir
		if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// chmodTheirs returns what the system's chmod makes of a mode.
func chmodTheirs(t *testing.T, path, mode string, before fs.FileMode) (fs.FileMode, bool) {
	t.Helper()
	if err := os.Chmod(path, before); err != nil {
		t.Fatal(err)
	}
	err := exec.Command("chmod", "--", mode, path).Run()
	info, statErr := os.Stat(path)
	if statErr != nil {
		t.Fatal(statErr)
	}
	return info.Mode(), err == nil
}
