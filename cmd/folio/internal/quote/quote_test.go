package quote

import (
	"os/exec"
	"testing"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"plain": "plain", "größe": "größe", "a\nb": `a\nb`, "\x1b[1m": `\x1b[1m`, "\xff": `\xff`, "\x7f": `\x7f`,
		"\u202e": `\u202e`, "\U000e0001": `\U000e0001`, "\u0085": `\u0085`, "日本": "日本", `back\slash`: `back\slash`,
	} {
		if got := Escape(s); got != want {
			t.Errorf("escape(%q) = %s, want %s", s, got, want)
		}
	}
}

var quoted = map[string]string{
	"plain": "plain", "": "''", "a b": "'a b'", "it's": `"it's"`, `$'"`: `"\$'\""`, "a\nb": `$'a\nb'`, "it's\x1b": `$'it\'s\x1b'`,
	"größe": "größe", "-x": "-x", "a*": "'a*'", `a\b`: `'a\b'`, "\xff\\": `$'\xff\\'`, "a\tb c": `$'a\tb c'`, "`x` it's": "\"\\`x\\` it's\"",
}

func TestShellQuote(t *testing.T) {
	t.Parallel()
	for s, want := range quoted {
		if got := Shell(s); got != want {
			t.Errorf("shellQuote(%q) = %s, want %s", s, got, want)
		}
	}
}

// A shell reads back what Shell writes.
func TestShellReadsBack(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash:", err)
	}
	for s := range quoted {
		out, err := exec.Command(bash, "-c", "printf %s "+Shell(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q: %q, %v", s, out, err)
		}
	}
}
