package sqlshell

import (
	"strings"
	"testing"
)

// TestIsWhole adds lines until a command or a statement is whole.
func TestIsWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lines string
		whole int // after so many lines, 0 for never
	}{
		{".tables\n", 1},
		{"\n", 1},
		{"SELECT 1;\n", 1},
		{"SELECT 1\n\n;\n", 3},
		{"SELECT 1\n.tables\n;\n", 3},
		{"SELECT ';\n';\n", 2},
		{"SELECT 1 -- ;\n;\n", 2},
		{"SELECT 1; /* ;\n*/\n;\n", 3},
		{"CREATE TRIGGER r INSERT ON t BEGIN\nSELECT 1;\nEND;\n", 3},
		{"SELECT 1\n", 0},
	} {
		text, whole := "", 0
		for line := range strings.Lines(c.lines) {
			if text += line; whole == 0 && isWhole(text, line) {
				whole = strings.Count(text, "\n")
			}
		}
		if whole != c.whole {
			t.Errorf("%q is whole after %d lines, want %d", c.lines, whole, c.whole)
		}
	}
}
