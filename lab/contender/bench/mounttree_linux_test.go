package bench

import (
	"bytes"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkMountTree does what programmers do in a directory: it unpacks the Go distribution, looks
// at all of it and at one thing, builds a program, and removes everything.
func BenchmarkMountTree(b *testing.B) {
	needMounts(b)
	a := newArchive(b)
	sides := mountSides(a.unpack)
	for _, s := range sides {
		s.start(b)
	}
	find := tool("find", "src")
	grep := tool("grep", "-r", "func New", "src")
	m := &mountBench{map[string]any{"untar": a.sum}}
	m.run(b, sides, []mountCase{
		{
			name: "untar", writes: true, fills: true, check: a.check,
			ready: func(_ *testing.B, s *mountSide) error { return os.RemoveAll(filepath.Join(s.dir, "go")) },
			work:  func(b *testing.B, s *mountSide) (any, error) { return nil, a.unpack(b, s.dir) },
		},
		{name: "stat", warm: true, work: a.stat},
		{name: "read", warm: true, work: a.read},
		{name: "find", warm: true, work: find},
		{name: "grep", warm: true, work: grep},
		{name: "find-cold", cold: true, work: find},
		{name: "grep-cold", cold: true, work: grep},
		{name: "status", needs: "git", writes: true, warm: true, work: tool(git("status", "--porcelain")...)},
		{name: "build", writes: true, ready: changeModule, work: buildModule, check: runModule},
		{name: "rm", writes: true, work: removeTree},
	})
}

// An archive holds the directories go, which is the Go distribution and a git repository; module, a
// program; and cache, for the go command.
type archive struct {
	path  string
	names []string // of the files in go/src
	small []string // those of at most 64 KiB
	sum   sum      // of go/src
}

const smallFile = 64 << 10

// newArchive makes the archive, from a part of the Go distribution in a quick run.
func newArchive(b *testing.B) *archive {
	b.Helper()
	stage := b.TempDir()
	part := [...]string{".", "src/strings"}[size(0, 1)]
	from, to := filepath.Join(build.Default.GOROOT, part), filepath.Join(stage, "go", part)
	if _, err := os.Stat(from); err != nil {
		b.Skipf("no source of Go here: %v", err)
	}
	must(b, os.CopyFS(to, os.DirFS(from)))
	commitAll(b, filepath.Join(stage, "go"))
	must(b, errors.Join(os.Mkdir(filepath.Join(stage, "cache"), 0o755), writeModule(filepath.Join(stage, "module"))))
	if !*quick { // the cache gets the packages of Go, which none of the sides is to compile
		s := &mountSide{dir: stage}
		must(b, changeModule(b, s))
		_, err := buildModule(b, s)
		must(b, err)
	}
	a := &archive{path: filepath.Join(b.TempDir(), "go.tar")}
	_, err := command(b, stage, "tar", "-cf", a.path, "go", "module", "cache")
	must(b, err)
	src := os.DirFS(filepath.Join(stage, "go", "src"))
	a.names = regular(b, src)
	for _, name := range a.names {
		info, err := fs.Stat(src, name)
		must(b, err)
		if info.Size() <= smallFile {
			a.small = append(a.small, name)
		}
	}
	a.sum, err = walk(src, true)
	must(b, errors.Join(err, os.RemoveAll(stage)))
	return a
}

// git is a command of git, without the settings and the daemons of the user.
func git(args ...string) []string {
	return append([]string{
		"git", "-c", "safe.directory=*", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.fsmonitor=false",
		"-c", "core.autocrlf=false", "-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null",
		"-c", "user.name=bench", "-c", "user.email=bench@localhost",
	}, args...)
}

// commitAll makes a directory a git repository with one commit of everything but programs, if git
// is installed. The contents are in one pack, as after a clone.
func commitAll(b *testing.B, dir string) {
	b.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		return
	}
	run := func(args ...string) {
		_, err := command(b, dir, git(args...)...)
		must(b, err)
	}
	run("init", "-q")
	must(b, os.MkdirAll(filepath.Join(dir, ".git", "info"), 0o755))
	must(b, os.WriteFile(filepath.Join(dir, ".git", "info", "exclude"), []byte("/bin/\n/pkg/\n"), 0o644))
	run("-c", "core.bigFileThreshold=1", "-c", "core.compression=1", "add", "-A") // larger ones go to a pack
	run("commit", "-q", "-m", "all")
}

func (a *archive) unpack(b *testing.B, dir string) error {
	_, err := command(b, dir, "tar", "-xf", a.path)
	return err
}

// check reads what was unpacked.
func (a *archive) check(_ *testing.B, s *mountSide) (any, error) {
	return walk(os.DirFS(filepath.Join(s.dir, "go", "src")), true)
}

// statPasses is how often all files are looked at.
const statPasses = 4

// stat adds up the sizes of all files, by lstat(2).
func (a *archive) stat(_ *testing.B, s *mountSide) (any, error) {
	var total int64
	var st syscall.Stat_t
	for range statPasses {
		for _, name := range a.names {
			name = s.dir + "/go/src/" + name
			if err := syscall.Lstat(name, &st); err != nil {
				return nil, &os.PathError{Op: "lstat", Path: name, Err: err}
			}
			total += st.Size
		}
	}
	return total, nil
}

// read reads the small files: open, read, close.
func (a *archive) read(_ *testing.B, s *mountSide) (any, error) {
	var all sum
	p := make([]byte, smallFile+1)
	for _, name := range a.small {
		name = s.dir + "/go/src/" + name
		fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: name, Err: err}
		}
		n, err := syscall.Read(fd, p)
		if err := errors.Join(err, syscall.Close(fd)); err != nil {
			return nil, &os.PathError{Op: "read", Path: name, Err: err}
		}
		all.add(p[:n])
	}
	return all, nil
}

// tool returns the work of a program in the directory go. The lines of its output are the answer,
// in whatever order.
func tool(words ...string) func(b *testing.B, s *mountSide) (any, error) {
	return func(b *testing.B, s *mountSide) (any, error) {
		out, err := command(b, filepath.Join(s.dir, "go"), words...)
		var lines served
		for line := range bytes.Lines(out) {
			lines.add(line)
		}
		return lines, err
	}
}

// writeModule writes a program of many packages, each of five files. All of them import a package
// that is not there yet.
func writeModule(dir string) error {
	var imports, calls strings.Builder
	for i := range size(40, 3) {
		name := fmt.Sprintf("p%02d", i)
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
		for j := range 5 {
			text := fmt.Appendf(nil, "package %s\n\nimport \"made/turn\"\n", name)
			for k := range 20 {
				text = fmt.Appendf(text, "\nfunc F%d_%d(a, b int) int {\n\tfor b > turn.Turn*0 {\n\t\ta, b = b, a%%b\n\t}\n\treturn a + %d\n}\n", j, k, k)
			}
			if err := os.WriteFile(filepath.Join(dir, name, fmt.Sprintf("f%d.go", j)), text, 0o644); err != nil {
				return err
			}
		}
		fmt.Fprintf(&imports, "import \"made/%s\"\n", name)
		fmt.Fprintf(&calls, "\tsum += %s.F4_19(%d, 18)\n", name, i)
	}
	text := fmt.Sprintf("package main\n\n%s\nfunc main() {\n\tsum := 0\n%s\tprint(sum)\n}\n", &imports, &calls)
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "main.go"), []byte(text), 0o644),
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module made\n\ngo 1.26\n"), 0o644),
	)
}

// changeModule changes the package that all others import, so that all of them must be compiled.
func changeModule(_ *testing.B, s *mountSide) error {
	dir := filepath.Join(s.dir, "module", "turn")
	text := "package turn\n\nconst Turn = " + strconv.FormatInt(time.Now().UnixNano(), 10) + "\n"
	return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "turn.go"), []byte(text), 0o644))
}

// buildModule builds the program. The cache of the go command lies on the side as well, but in a
// quick run it is the user's, which has the packages of Go.
func buildModule(b *testing.B, s *mountSide) (any, error) {
	words := []string{"env", "GOWORK=off", "GOFLAGS=", "GOTOOLCHAIN=local"}
	if !*quick {
		words = append(words, "GOCACHE="+filepath.Join(s.dir, "cache"))
	}
	return command(b, filepath.Join(s.dir, "module"), append(words, "go", "build", "-o", "made", ".")...)
}

// runModule runs the program that was built.
func runModule(_ *testing.B, s *mountSide) (any, error) {
	out, err := exec.Command(filepath.Join(s.dir, "module", "made")).CombinedOutput()
	return string(out), err
}

// removeTree removes everything.
func removeTree(b *testing.B, s *mountSide) (any, error) {
	s.full = false
	if _, err := command(b, s.dir, "rm", "-rf", "go"); err != nil {
		return nil, err
	}
	_, err := os.Lstat(filepath.Join(s.dir, "go"))
	return errors.Is(err, fs.ErrNotExist), nil
}
