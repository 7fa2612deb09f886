package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// grep finds what GNU grep finds.
func TestGrepLikeGrep(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("grep", "--version").Output()
	if err != nil || !bytes.Contains(out, []byte("GNU")) {
		t.Skip("no GNU grep to compare with:", err)
	}
	src := filepath.Join(goroot(t), "src", "net")
	volume := filepath.Join(t.TempDir(), "v.folio")
	mustRun(t, "import", src, volume)
	for _, args := range [][]string{
		{"func"},
		{"-n", "^func (Listen|Dial)"},
		{"-in", "basket|mistake|dial"},
		{"-n", "[0-9]+[.][0-9]+$"},
		{"-c", "err"},
		{"-l", "http2"},
		{"--include", "*_test.go", "-n", "^$"},
		{"-F", "p[0]"},
	} {
		want := gnuGrep(t, src, args)
		got := strings.Split(mustRun(t, append(append([]string{"grep"}, args...), volume)...), "\n")
		got = slices.DeleteFunc(got, func(line string) bool { return strings.HasSuffix(line, ": binary file matches") })
		for i, line := range got {
			got[i] = strings.TrimPrefix(line, volume+":")
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q: found %d lines, GNU grep %d", args, len(got), len(want))
		}
	}
}

// gnuGrep returns the lines that GNU grep finds, sorted. It takes what is not text otherwise.
func gnuGrep(t *testing.T, src string, args []string) []string {
	t.Helper()
	cmd := exec.Command("grep", append([]string{"-rE", "--binary-files=without-match"}, append(args, ".")...)...)
	if slices.Contains(args, "-F") {
		cmd.Args[1] = "-r"
	}
	if slices.Contains(args, "-c") || slices.Contains(args, "-l") {
		cmd.Args[2] = "--binary-files=text"
	}
	cmd.Dir, cmd.Env = src, append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.ReplaceAll("\n"+string(out), "\n./", "\n")[1:], "\n")
	slices.Sort(lines)
	return lines
}

// The output comes in the same order whatever worker is the fastest, and as a whole even if it is
// long.
func TestGrepOrder(t *testing.T) {
	t.Parallel()
	src, volume := t.TempDir(), filepath.Join(t.TempDir(), "v.folio")
	var want strings.Builder
	for i := range 100 {
		name := fmt.Sprintf("f%02d", i)
		text := strings.Repeat(fmt.Sprintf("line of %d\n", i), 1+i*i*3)
		if err := os.WriteFile(filepath.Join(src, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 1 + i*i*3 {
			fmt.Fprintf(&want, "%s:%s:line of %d\n", volume, name, i)
		}
	}
	mustRun(t, "import", src, volume)
	for range 3 {
		if got := mustRun(t, "grep", "line", volume); got != want.String() {
			t.Fatalf("%d bytes of output, want %d", len(got), want.Len())
		}
	}
}

// A reader that goes away ends the search.
func TestGrepOutputFails(t *testing.T) {
	t.Parallel()
	src, volume := t.TempDir(), filepath.Join(t.TempDir(), "v.folio")
	if err := os.WriteFile(filepath.Join(src, "f"), bytes.Repeat([]byte("line\n"), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "import", src, volume)
	var stderr bytes.Buffer
	r, w := io.Pipe()
	r.Close()
	code := run(t.Context(), []string{"grep", "line", volume}, nil, w, &stderr)
	if code != exitFailure || !strings.HasPrefix(stderr.String(), "folio: standard output: ") {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}
