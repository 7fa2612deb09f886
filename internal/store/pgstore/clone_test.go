//go:build unix

package pgstore_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestClone clones trees and files on a server, and in a volume of the engine, and compares both
// after each of some changes.
func TestClone(t *testing.T) {
	t.Parallel()
	want, err := folio.Open(t.TempDir()+"/want.folio", &folio.Options{Create: true})
	must.Do(t, err)
	t.Cleanup(func() { _ = want.Close() })
	volumes := []*folio.Volume{volume(t, pgserver.Volume(t)), want}
	long := make([]byte, 200_000)
	for i := range long {
		long[i] = byte(i % 251)
	}
	for i, step := range []func(v *folio.Volume) error{
		func(v *folio.Volume) error {
			return errors.Join(v.MkdirAll("a/b/c", 0o750), v.WriteFile("a/long", long, 0o600), v.WriteFile("a/b/short", []byte("short"), 0o644),
				v.Link("a/long", "a/b/again"), v.Link("a/long", "outside"), v.Symlink("b/short", "a/link"), v.WriteFile("a/empty", nil, 0o644),
				v.SetXattr("a/b", "user.dir", []byte("d")), v.SetXattr("a/b/short", "user.file", []byte("f")),
				truncate(v, "a/holes", 300_000))
		},
		func(v *folio.Volume) error { return v.Clone("a", "copy") },
		func(v *folio.Volume) error { return v.Clone("a/link", "link") },
		func(v *folio.Volume) error { return v.Clone("a/long", "one") },
		func(v *folio.Volume) error { return v.WriteFile("copy/long", []byte("other"), 0o644) },
		func(v *folio.Volume) error { return truncate(v, "copy/b/again", 70_000) },
		func(v *folio.Volume) error { return v.CloneFile("a/long", "copy/holes") },
		func(v *folio.Volume) error { return v.Clone("a", "a/b/inside") },
		func(v *folio.Volume) error { return v.Clone("a", "copy") },
		func(v *folio.Volume) error { return v.Clone("none", "copy2") },
		func(v *folio.Volume) error { return v.Clone("a", "none/copy") },
		func(v *folio.Volume) error {
			undo := errors.New("undo")
			return v.Update(context.Background(), func(tx *folio.Tx) error {
				return errors.Join(tx.WriteFile("a/new", long, 0o644), tx.Clone("a", "undone"), undo)
			})
		},
		func(v *folio.Volume) error {
			return v.Update(context.Background(), func(tx *folio.Tx) error {
				return errors.Join(tx.WriteFile("a/new", long, 0o644), tx.Clone("a", "copy3"), tx.Remove("copy3/new"), tx.Clone("copy3", "copy4"))
			})
		},
		func(v *folio.Volume) error { return errors.Join(v.RemoveAll("a"), v.Remove("outside")) },
	} {
		var errs [2]error
		for j, v := range volumes {
			errs[j] = step(v)
		}
		if text(errs[0]) != text(errs[1]) {
			t.Errorf("step %d: %v, want %v", i, errs[0], errs[1])
		}
		if got, want := volumetest.PlainText(t, volumes[0], true), volumetest.PlainText(t, want, true); got != want {
			t.Fatalf("step %d:\n got %s\nwant %s", i, got, want)
		}
	}
	for _, v := range volumes {
		volumetest.WantClean(t, v)
	}
}

// TestClones changes a volume with clones at random, and compares it with one in which trees are
// copied.
func TestClones(t *testing.T) {
	t.Parallel()
	address, r := pgserver.Volume(t), random.New(t)
	v := volume(t, address)
	h := volumetest.NewHistory(r, v, v, volume(t, address))
	h.Model = volumetest.Memory(t, nil)
	steps := 2000
	if testing.Short() {
		steps = 200
	}
	h.Run(t, steps)
	h.End(t)
}

func truncate(v *folio.Volume, name string, size int64) error {
	f, err := v.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestCloneDamaged refuses to clone trees with a directory that has two names or lies in itself,
// and with an entry without an inode.
func TestCloneDamaged(t *testing.T) {
	t.Parallel()
	for what, sql := range map[string]string{
		"two names": "INSERT INTO entry SELECT parent, 'again', ino, 2 FROM entry WHERE name = 'c'",
		"a circle":  "INSERT INTO entry SELECT ino, 'again', (SELECT ino FROM entry WHERE name = 'a'), 2 FROM entry WHERE name = 'b'",
		"no inode":  "INSERT INTO entry SELECT ino, 'lost', 4711, 1 FROM entry WHERE name = 'b'",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			address := pgserver.Volume(t)
			v := volume(t, address)
			must.Do(t, v.MkdirAll("a/b/c", 0o755))
			_, err := connect(t, address).Exec(context.Background(), sql)
			must.Do(t, err)
			if err := v.Clone("a", "copy"); !errors.Is(err, folio.ErrDamaged) {
				t.Errorf("clone: %v", err)
			}
			if _, err := v.Lstat("copy"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the copy: %v", err)
			}
		})
	}
}
