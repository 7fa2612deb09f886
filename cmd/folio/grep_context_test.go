package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// contextFiles makes files whose lines hold what the patterns of TestGrepContextLikeGrep look for,
// and returns their names. One is larger than the buffer that is searched at once, and its matches
// lie anywhere in it; one is not text.
func contextFiles(t *testing.T, r *rand.Rand, dir string) (names []string) {
	t.Helper()
	words := []string{"foo", "foofoo", "a_foo", "foo-foo", "Foo", "bar", "barfoo", "x", "", " ", "foo.bar", "ab", "abc", "a"}
	for i := range 12 {
		var text bytes.Buffer
		rare := 1 + r.IntN(12)
		for lines := r.IntN(40); lines >= 0; lines-- {
			for n := r.IntN(4); n >= 0 && r.IntN(rare) == 0; n-- {
				text.WriteString(words[r.IntN(len(words))] + " "[:r.IntN(2)])
			}
			text.WriteByte('\n')
		}
		switch i {
		case 3:
			text.WriteString("foo\x00\nfoo\n")
		case 5:
			for n := 0; text.Len() < 3<<18; n++ {
				fmt.Fprintf(&text, "%s %d\n", strings.Repeat("y", r.IntN(300)), n)
				if r.IntN(400) == 0 {
					text.WriteString("foo bar foo\n")
				}
			}
		}
		if r.IntN(2) == 0 {
			text.Truncate(text.Len() - 1)
		}
		name := fmt.Sprintf("f%02d", i)
		if err := os.WriteFile(filepath.Join(dir, name), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// grep -o, -A, -B and -C print what GNU grep prints, whatever flags they come with.
func TestGrepContextLikeGrep(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("grep", "--version").Output(); err != nil || !bytes.Contains(out, []byte("GNU")) {
		t.Skip("no GNU grep to compare with:", err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	dir, volume := t.TempDir(), filepath.Join(t.TempDir(), "v.folio")
	names := contextFiles(t, r, dir)
	mustRun(t, "import", dir, volume)
	flags := [][]string{
		{"-o"},
		{"-o"},
		{"-A", "1"},
		{"-A3"},
		{"-B", "2"},
		{"-B1"},
		{"-C", "1"},
		{"-C9"},
		{"-A0"},
		{"--context=2"},
		{"-n"},
		{"-i"},
		{"-w"},
		{"-v"},
		{"-h"},
		{"-H"},
		{"-c"},
		{"-l"},
		{"-e", "ab"},
		{"-B", "5000"},
		{"-A", "99999999999999999999"},
	}
	patterns := []string{"foo", "x*", "a|ab|abc", "^", "$", "(foo|bar)+", "^foo", "o+", ".", "nowhere", "f.*o", " ?foo"}
	for range 300 {
		var args []string
		for range 1 + r.IntN(4) {
			args = append(args, flags[r.IntN(len(flags))]...)
		}
		if slices.Contains(args, "-l") && slices.Contains(args, "-c") {
			continue // misuse
		}
		args = append(args, "-e", patterns[r.IntN(len(patterns))])
		want, wantCode := gnuGrepFiles(t, dir, args, names)
		var out bytes.Buffer
		code := run(t.Context(), append(append([]string{"grep"}, args...), volume), nil, &out, &out)
		got := textOnly(strings.ReplaceAll(out.String(), volume+":", ""))
		if got != want || code != wantCode {
			t.Fatalf("%q: exit code %d, want %d\n%s", args, code, wantCode, firstDifference(got, want))
		}
	}
}

// textOnly leaves out what grep says of files that are not text, which GNU grep says elsewhere.
func textOnly(out string) string { return strings.ReplaceAll(out, "f03: binary file matches\n", "") }

// gnuGrepFiles returns what GNU grep prints of files, and its exit code.
func gnuGrepFiles(t *testing.T, dir string, args, names []string) (out string, code int) {
	t.Helper()
	binary := "--binary-files=binary"
	if slices.Contains(args, "-c") || slices.Contains(args, "-l") {
		binary = "--binary-files=text" // or it would take a NUL for the end of a line
	}
	cmd := exec.Command("grep", slices.Concat([]string{"-E", binary}, args, []string{"--"}, names)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C")
	text, err := cmd.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		code = e.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return string(text), code
}

// firstDifference shows where two outputs differ first.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			from := max(0, i-3)
			return fmt.Sprintf("line %d: %q, want %q", i+1, g[from:min(i+3, len(g))], w[from:min(i+3, len(w))])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
