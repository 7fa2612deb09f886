package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// collect walks a source and returns a line for each entry: name, mode, owner if not 0:0, and what
// it holds or leads to.
func collect(src Source) (lines []string, err error) {
	err = src.Walk(context.Background(), func(e *Entry) error {
		line, err := describe(e)
		lines = append(lines, line)
		return err
	})
	return lines, errors.Join(err, src.Close())
}

func describe(e *Entry) (string, error) {
	if e.Link != "" {
		return fmt.Sprintf("%s == %s", e.Name, e.Link), nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v", e.Name, e.Mode)
	switch e.Mode.Type() {
	case 0:
		data := e.Data
		if e.Content != nil {
			var err error
			if data, err = io.ReadAll(e.Content); err != nil {
				return b.String(), err
			}
		}
		if int64(len(data)) != e.Size {
			return b.String(), fmt.Errorf("%s: %d bytes, announced %d", e.Name, len(data), e.Size)
		}
		fmt.Fprintf(&b, " %s", brief(data))
	case fs.ModeSymlink:
		fmt.Fprintf(&b, " -> %s", e.Linkname)
	case fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
		fmt.Fprintf(&b, " %#x", e.Rdev)
	}
	for _, name := range slices.Sorted(keys(e.Xattrs)) {
		fmt.Fprintf(&b, " %s=%s", name, e.Xattrs[name])
	}
	return b.String(), nil
}

func keys(m map[string][]byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// brief shows a long content by its length and whether it is all of one byte.
func brief(p []byte) string {
	switch {
	case len(p) < 100:
		return fmt.Sprintf("%q", p)
	case bytes.Count(p, p[:1]) == len(p):
		return fmt.Sprintf("%dx%q", len(p), p[:1])
	}
	return fmt.Sprintf("%d bytes", len(p))
}

// wantLines compares what collect returned.
func wantLines(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// open opens a file that holds data.
func open(t *testing.T, data []byte) (Source, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(name, nil, nil)
}

// collectData collects a file that holds data, or, if it is a stream, standard input.
func collectData(t *testing.T, data []byte, stream bool) ([]string, error) {
	t.Helper()
	src, err := Open("-", bytes.NewReader(data), nil)
	if !stream {
		src, err = open(t, data)
	}
	if err != nil {
		return nil, err
	}
	return collect(src)
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		data string
		want error
	}{
		{"empty", "", ErrEmpty},
		{"text", "hello", ErrKind},
		{"long text", strings.Repeat("hello\n", 1000), ErrKind},
		{"volume", sqliteMagic + strings.Repeat("\x00", 52) + "Foli" + strings.Repeat("\x00", 4000), ErrVolume},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, stream := range []bool{false, true} {
				_, err := collectData(t, []byte(tt.data), stream)
				if !errors.Is(err, tt.want) && !(stream && errors.Is(err, ErrSeek)) {
					t.Errorf("stream %t: got %v, want %v", stream, err, tt.want)
				}
			}
		})
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none"), nil, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestOpenNamesTheProgram(t *testing.T) {
	t.Parallel()
	for head, program := range map[string]string{
		"\xfd7zXZ\x00": "xz -dc", "\x1f\x9d\x90": "gzip -dc", "LZIP\x01": "lzip -dc", "\x5d\x00\x00\x80\x00": "xz -dc",
	} {
		for _, stream := range []bool{false, true} {
			_, err := collectData(t, []byte(head+"........."), stream)
			if e, ok := errors.AsType[*CompressedError](err); !ok || e.Program != program {
				t.Errorf("%q, stream %t: %v", head, stream, err)
			}
		}
	}
}

func TestCleanName(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, want string }{
		{"a", "a"},
		{"a/b", "a/b"},
		{"./a", "a"},
		{"a/", "a"},
		{"a//b/./c/", "a/b/c"},
		{".", "."},
		{"./", "."},
		{"./.", "."},
		{"a..b/...", "a..b/..."},
		{".hidden", ".hidden"},
		{"a/.b", "a/.b"},
		{`a\b`, `a\b`},
		{"\xff", "\xff"},
		{"C:", "C:"},
		{"", ""},
		{"/", "."},
		{"/a", "a"},
		{"//a/", "a"},
		{"/..", ""},
		{"/./../a", ""},
		{"..", ""},
		{"../a", ""},
		{"a/..", ""},
		{"a/../b", ""},
		{"./../a", ""},
		{"a\x00", ""},
		{strings.Repeat("a/", 1<<15), ""},
	}
	for _, tt := range tests {
		got, err := cleanName(tt.name)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%.20q: got %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestCompareNames(t *testing.T) {
	t.Parallel()
	sorted := []string{".", "a", "a/b", "a/b/c", "a/b-c", "a-b", "a.b", "b", "b/\x00", "\xff"}
	for i, a := range sorted {
		for j, b := range sorted {
			if got := compareNames(a, b); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("compareNames(%q, %q) = %d", a, b, got)
			}
		}
	}
}

func TestEntryErrorEscapes(t *testing.T) {
	t.Parallel()
	err := WrapEntry("a\x1b[2J\nb", ErrName)
	if got, want := err.Error(), `a\x1b[2J\nb: unsafe name`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if again := WrapEntry("c", err); again != err {
		t.Errorf("wrapped twice: %v", again)
	}
}

func TestMaxSize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, size := range map[string]int{"a": 10, "b": 20, "c": 2 << 20} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for limit, want := range map[int64]string{0: "", 2<<20 + 30: "", 2<<20 + 29: "c", 29: "b", 9: "a"} {
		src, err := Open(dir, nil, &Options{MaxSize: limit})
		if err != nil {
			t.Fatal(err)
		}
		_, err = collect(src)
		if e, ok := errors.AsType[*EntryError](err); ok != (want != "") || ok && (e.Name != want || !errors.Is(err, ErrTooLarge)) {
			t.Errorf("limit %d: got %v, want %q", limit, err, want)
		}
	}
}
