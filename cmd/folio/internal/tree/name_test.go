package tree

import (
	"strings"
	"testing"
)

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
		got, err := CleanName(tt.name)
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
			if got := CompareNames(a, b); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("CompareNames(%q, %q) = %d", a, b, got)
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
