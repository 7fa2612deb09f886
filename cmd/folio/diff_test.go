package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	diffRounds = flag.Int("diff.rounds", 10, "random pairs of trees that TestDiff compares")
	diffSeed   = flag.Uint64("diff.seed", 0, "of TestDiff; 0 chooses one")
)

// TestDiff compares random trees with diff(1) and git as judges, where these are there: names and
// types, the lines of git diff, and that git apply makes one tree of the other. What is on disk and
// what is in a volume gives the same output.
func TestDiff(t *testing.T) {
	t.Parallel()
	seed := *diffSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	random := rand.New(rand.NewPCG(seed, 1))
	for round := range *diffRounds {
		dir := t.TempDir()
		a, b := makePair(t, dir, random)
		d := &diffJudge{t: t, dir: dir, a: a, b: b}
		d.sameAnywhere()
		d.names()
		d.lines()
		d.apply()
		if t.Failed() {
			t.Fatalf("round %d, -diff.seed %d", round, seed)
		}
	}
}

// makePair makes two directories, the second one a changed copy of the first.
func makePair(t *testing.T, dir string, random *rand.Rand) (a, b string) {
	t.Helper()
	a, b = filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := errors.Join(os.Mkdir(a, 0o755), os.Mkdir(b, 0o755)); err != nil {
		t.Fatal(err)
	}
	for range 5 + random.IntN(40) {
		name := randomName(random)
		was, is := random.IntN(8) > 0, random.IntN(8) > 0
		content := randomText(random)
		if was {
			putRandom(a, name, content, random)
		}
		switch random.IntN(4) {
		case 0:
			content = changeText(content, random)
		case 1:
			content = randomText(random)
		}
		if is {
			putRandom(b, name, content, random)
		}
	}
	return a, b
}

// randomName returns a path of one of few elements, so that types differ.
func randomName(random *rand.Rand) string {
	elems := []string{"d", "e", "file", "say \"so\"", "a space", "\xff", "t.txt", strings.Repeat("long", 12)}
	name := elems[random.IntN(len(elems))]
	for random.IntN(3) > 0 {
		name += "/" + elems[random.IntN(len(elems))]
	}
	return name
}

func randomText(random *rand.Rand) string {
	var b strings.Builder
	for range random.IntN(100) {
		fmt.Fprintf(&b, "line %d\n", random.Uint32())
	}
	switch random.IntN(8) {
	case 0:
		b.WriteString("no newline")
	case 1:
		b.WriteString("\x00")
	}
	return b.String()
}

// changeText changes, removes and adds lines.
func changeText(s string, random *rand.Rand) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		switch random.IntN(12) {
		case 0:
			continue
		case 1:
			fmt.Fprintf(&b, "changed %d\n", random.Uint32())
			continue
		case 2:
			fmt.Fprintf(&b, "added %d\n", random.Uint32())
		}
		b.WriteString(line)
	}
	return b.String()
}

// putRandom makes a file, a symbolic link or a directory, if the name can be had.
func putRandom(dir, name, content string, random *rand.Rand) {
	path := filepath.Join(dir, name)
	_ = os.MkdirAll(filepath.Dir(path), 0o755)
	switch mode := fs.FileMode(0o644); random.IntN(10) {
	case 0:
		_ = os.Mkdir(path, 0o755)
	case 1:
		_ = os.Symlink(fmt.Sprint("target", random.IntN(3)), path)
	case 2:
		mode = 0o755
		fallthrough
	default:
		_ = os.WriteFile(path, []byte(content), mode)
	}
}

type diffJudge struct {
	t         *testing.T
	dir, a, b string
}

// diff returns the output of folio diff, and checks the exit code.
func (d *diffJudge) diff(args ...string) string {
	d.t.Helper()
	code, stdout, stderr := runFolio(d.t, append([]string{"diff"}, args...)...)
	if code > exitFailure || stderr != "" || code == exitOK && stdout != "" {
		d.t.Fatalf("folio diff %q: exit code %d, %q, %q", args, code, stdout, stderr)
	}
	return stdout
}

// sameAnywhere wants the same output, whether a tree is on disk, in a volume, or both are in one
// volume.
func (d *diffJudge) sameAnywhere() {
	d.t.Helper()
	both := filepath.Join(d.dir, "both.folio")
	mustRun(d.t, "create", both)
	for _, tree := range []string{d.a, d.b} {
		mustRun(d.t, "import", "-q", tree, tree+".folio")
		mustRun(d.t, "diff", "--attributes", "all", tree, tree+".folio")
		mustRun(d.t, "cp", "-a", "-q", tree, both+":")
	}
	for _, form := range []string{"--attributes=mode", "--patch"} {
		want := d.diff(form, d.a, d.b)
		for _, pair := range [][2]string{
			{d.a + ".folio", d.b}, {d.a, d.b + ".folio"}, {d.a + ".folio", d.b + ".folio"}, {both + ":a", both + ":b"},
		} {
			if got := d.diff(form, pair[0], pair[1]); got != want {
				d.t.Errorf("%s %q:\n%s\nwant\n%s", form, pair, got, want)
			}
		}
	}
}

// names compares with diff(1), which knows contents and types.
func (d *diffJudge) names() {
	d.t.Helper()
	program, err := exec.LookPath("diff")
	if err != nil {
		return
	}
	cmd := exec.Command(program, "-rq", "--no-dereference", d.a, d.b)
	cmd.Env = []string{"LC_ALL=C"}
	out, _ := cmd.Output()
	differs := cmd.ProcessState.ExitCode() == 1
	if got := d.diff("--attributes", "none", d.a, d.b); differs != (got != "") {
		d.t.Errorf("folio diff: %q, diff: %q", got, out)
	}
}

// lines compares with the lines of git diff.
func (d *diffJudge) lines() {
	d.t.Helper()
	was, is := filepath.Join(d.dir, "was"), filepath.Join(d.dir, "is")
	d.copy(d.a, was)
	d.copy(d.b, is)
	if d.git(was, "init", "-q") == nil {
		return
	}
	d.git(was, "add", "-A")
	d.git(was, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "a")
	if err := os.Rename(filepath.Join(was, ".git"), filepath.Join(is, ".git")); err != nil {
		d.t.Fatal(err)
	}
	d.git(is, "add", "-A")
	want := d.git(is, "diff", "--cached", "--no-renames", "--patience")
	got := d.diff("-p", "--attributes", "mode", d.a, d.b)
	if !slices.Equal(changedLines(got), changedLines(string(want))) {
		d.t.Errorf("--patch:\n%s\ngit:\n%s", got, want)
	}
}

// changedLines returns the lines of a patch that are about changes, sorted. Where a hunk ends is a
// matter of taste. Only folio has comments, and only git has index lines of binary files.
func changedLines(patch string) (lines []string) {
	binary := strings.Contains(patch, "Binary files ")
	for _, line := range sortedLines(patch) {
		if !strings.HasPrefix(line, "@@") && line[0] != ' ' && line[0] != '#' && !(binary && strings.HasPrefix(line, "index ")) {
			lines = append(lines, line)
		}
	}
	return lines
}

func sortedLines(s string) []string { return slices.Sorted(strings.Lines(s)) }

// apply makes b of a copy of a.
func (d *diffJudge) apply() {
	d.t.Helper()
	text := d.diff("-p", d.a, d.b)
	if strings.Contains(text, "\nBinary files ") {
		return
	}
	work, name := filepath.Join(d.dir, "apply"), filepath.Join(d.dir, "patch")
	d.copy(d.a, work)
	removeEmpty(work)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	if !strings.Contains(text, "diff --git") || d.git(work, "apply", name) == nil {
		return
	}
	d.wantApplied(work, text)
	program, err := exec.LookPath("patch")
	names := "\n" + d.diff("--attributes", "mode", d.a, d.b)
	if err != nil || strings.Contains(names, "\nT") || strings.Contains(names, "\nP") {
		return // patch(1) makes no directory of a file, and takes no names with spaces where only a mode has changed
	}
	work = filepath.Join(d.dir, "patched")
	d.copy(d.a, work)
	removeEmpty(work)
	cmd := exec.Command(program, "-s", "-p1", "-i", name)
	cmd.Dir = work
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("patch: %v: %s", err, out)
	}
	d.wantApplied(work, text)
}

// wantApplied checks what a patch has made of a.
func (d *diffJudge) wantApplied(work, patch string) {
	d.t.Helper()
	if got := onlyFiles(d.diff("--attributes", "mode", work, d.b)); got != "" {
		d.t.Errorf("after the patch:\n%s\nof\n%s", got, patch)
	}
}

// removeEmpty removes directories without files, which git would not make way for a file.
func removeEmpty(dir string) {
	list, _ := os.ReadDir(dir)
	for _, d := range list {
		if d.IsDir() {
			removeEmpty(filepath.Join(dir, d.Name()))
			_ = os.Remove(filepath.Join(dir, d.Name()))
		}
	}
}

// onlyFiles leaves out directories, which a patch does not know.
func onlyFiles(names string) string {
	var b strings.Builder
	for line := range strings.Lines(names) {
		if !strings.HasSuffix(line, "/\n") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// git returns the output of git, nil if there is none here.
func (d *diffJudge) git(dir string, args ...string) []byte {
	d.t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		return nil
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + d.dir, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C.UTF-8", "GIT_CEILING_DIRECTORIES=" + d.dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return append([]byte{}, out...)
}

// copy copies a tree.
func (d *diffJudge) copy(from, to string) {
	d.t.Helper()
	program, err := exec.LookPath("cp")
	if err != nil {
		d.t.Skip("no cp here:", err)
	}
	if out, err := exec.Command(program, "-a", from, to).CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
}
