package main

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var diffDamages = flag.Int("diff.damages", 60, "damaged volumes that TestDiffDamaged compares")

// TestDiffDamaged compares a volume with copies of it that are damaged at random. Each comparison
// ends, and what cannot be read is named, and is no difference.
func TestDiffDamaged(t *testing.T) {
	t.Parallel()
	dir, src := t.TempDir(), t.TempDir()
	for _, name := range []string{"a", "b", "c", "d"} {
		text := strings.Repeat(name+" is a line of a file\n", 3000)
		if err := os.WriteFile(filepath.Join(src, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	whole, damaged := filepath.Join(dir, "whole.folio"), filepath.Join(dir, "damaged.folio")
	mustRun(t, "import", src, whole)
	content, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range *diffDamages {
		bad := bytes.Clone(content)
		for range 1 + random.IntN(8) {
			at := 100 + random.IntN(len(bad)-100)
			bad[at] ^= byte(1 << random.IntN(8))
		}
		if random.IntN(4) == 0 {
			bad = bad[:4096*(1+random.IntN(len(bad)/4096))]
		}
		if err := os.WriteFile(damaged, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{"-r", "-p"} {
			code, stdout, stderr := runFolio(t, "diff", form, whole, damaged)
			switch {
			case code == exitOK && stdout+stderr == "":
			case code == exitFailure && stdout != "" && stderr == "":
			case code == exitTrouble && strings.HasPrefix(stderr, "folio: "):
			default:
				t.Errorf("%s: exit code %d, %q, %q", form, code, stdout, stderr)
			}
		}
	}
}
