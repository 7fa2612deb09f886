package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// makeTwoNames makes a volume of 60 directories, each in the one before, each with the names "a"
// and "b". So 2^59 paths lead to the file in the innermost one.
func makeTwoNames(t *testing.T) (volume string) {
	t.Helper()
	const levels = 60
	volume = filepath.Join(t.TempDir(), "twonames.folio")
	mustRun(t, "mkdir", "--create", "-p", volume+":"+strings.Repeat("a/", levels))
	mustRun(t, "touch", volume+":"+strings.Repeat("a/", levels)+"file")
	db, err := sqlitefile.Open(volume, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(context.Background(), func(tx *sqlitefile.Tx) error {
		entries, err := tx.Table("entry")
		for parent := range levels {
			err = errors.Join(err, entries.PutKey(parent+1, "b", parent+2, int(store.Dir)))
		}
		return err
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return volume
}

// TestTwoNames checks that every command that walks a volume ends where directories have two names
// each, with one line that says so, and that check names them and rm removes them.
func TestTwoNames(t *testing.T) {
	t.Parallel()
	volume := makeTwoNames(t)
	disk := t.TempDir()
	for _, args := range [][]string{
		{"ls", "-R", volume},
		{"ls", "-lR", "--json", volume},
		{"tree", volume},
		{"tree", "--json", volume + ":a"},
		{"find", volume},
		{"find", "--name", "file", volume + ":a"},
		{"grep", "text", volume},
		{"chmod", "-R", "700", volume + ":a"},
		{"du", volume},
		{"du", "-a", volume + ":a"},
		{"info", volume},
		{"export", volume, filepath.Join(disk, "out")},
		{"get", "-r", volume + ":a", disk},
		{"cp", "-r", volume + ":a", volume + ":copy"},
		{"cp", "-a", volume + ":a", filepath.Join(disk, "copy")},
	} {
		code, _, stderr := runFolio(t, args...)
		if code != exitFailure || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "more than one name") {
			t.Errorf("%q: exit code %d, %q", args, code, stderr)
		}
	}
	for _, other := range []string{disk, volume + ":a"} {
		code, _, stderr := runFolio(t, "diff", volume, other)
		if code != exitTrouble || !strings.Contains(stderr, "more than one name; folio check says more\n") {
			t.Errorf("diff: exit code %d, %q", code, stderr)
		}
	}
	if code, stdout, _ := runFolio(t, "check", volume); code != exitFailure || !strings.Contains(stdout, "more than one name") {
		t.Errorf("check: exit code %d, %q", code, stdout)
	}
	mustRun(t, "rm", "-r", volume+":a", volume+":b")
	if out := mustRun(t, "find", volume); strings.Count(out, "\n") != 1 {
		t.Errorf("what is left after rm: %q", out)
	}
	_, _, _ = runFolio(t, "check", "--repair", volume) // the root counts the links that were added by hand
	mustRun(t, "check", volume)
}
