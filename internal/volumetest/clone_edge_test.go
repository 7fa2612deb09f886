package volumetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/roottest"
)

// A cloneCaller is a Volume or a Tx.
type cloneCaller interface {
	treeChanger
	CloneFile(oldname, newname string) error
	CopyFile(oldname, newname string) error
}

// cloneEdges are the ways to change a file, each of which meets chunks in another way. The files
// are those of edgeFiles.
var cloneEdges = map[string]func(v cloneCaller, name string) error{
	"WriteFile shorter":     func(v cloneCaller, name string) error { return v.WriteFile(name, []byte("short"), 0o644) },
	"WriteFile empty":       func(v cloneCaller, name string) error { return v.WriteFile(name, nil, 0o644) },
	"WriteFile one chunk":   func(v cloneCaller, name string) error { return v.WriteFile(name, edgeBytes('w', 65536), 0o644) },
	"WriteFile longer":      func(v cloneCaller, name string) error { return v.WriteFile(name, edgeBytes('w', 300_000), 0o644) },
	"WriteAt within":        func(v cloneCaller, name string) error { return edgeWrite(v, name, 1000, 10) },
	"WriteAt over a border": func(v cloneCaller, name string) error { return edgeWrite(v, name, 65_530, 20) },
	"WriteAt a chunk":       func(v cloneCaller, name string) error { return edgeWrite(v, name, 131_072, 65_536) },
	"WriteAt a hole":        func(v cloneCaller, name string) error { return edgeWrite(v, name, 70_000, 10) },
	"WriteAt the end":       func(v cloneCaller, name string) error { return edgeWrite(v, name, 199_990, 20) },
	"WriteAt behind":        func(v cloneCaller, name string) error { return edgeWrite(v, name, 300_000, 10) },
	"Truncate to 0":         func(v cloneCaller, name string) error { return edgeTruncate(v, name, 0) },
	"Truncate in a chunk":   func(v cloneCaller, name string) error { return edgeTruncate(v, name, 140_000) },
	"Truncate in a hole":    func(v cloneCaller, name string) error { return edgeTruncate(v, name, 100_000) },
	"Truncate at a border":  func(v cloneCaller, name string) error { return edgeTruncate(v, name, 65_536) },
	"Truncate longer":       func(v cloneCaller, name string) error { return edgeTruncate(v, name, 250_000) },
	"Truncate and longer": func(v cloneCaller, name string) error {
		return errors.Join(edgeTruncate(v, name, 10), edgeTruncate(v, name, 200_000))
	},
	"Remove":    func(v cloneCaller, name string) error { return v.Remove(name) },
	"RemoveAll": func(v cloneCaller, name string) error { return v.RemoveAll(name) },
	"Remove and make": func(v cloneCaller, name string) error {
		return errors.Join(v.Remove(name), v.WriteFile(name, edgeBytes('w', 70_000), 0o644))
	},
	"Rename":      func(v cloneCaller, name string) error { return v.Rename(name, "renamed") },
	"Rename over": func(v cloneCaller, name string) error { return v.Rename("plain", name) },
	"Link":        func(v cloneCaller, name string) error { return v.Link(name, "linked") },
	"Link and write": func(v cloneCaller, name string) error {
		return errors.Join(v.Link(name, "linked"), v.Remove(name), edgeWrite(v, "linked", 5, 10))
	},
	"Chmod":          func(v cloneCaller, name string) error { return v.Chmod(name, 0o600) },
	"SetXattr":       func(v cloneCaller, name string) error { return v.SetXattr(name, "user.a", []byte("a")) },
	"CopyFile":       func(v cloneCaller, name string) error { return v.CopyFile(name, "copied") },
	"CopyFile over":  func(v cloneCaller, name string) error { return v.CopyFile("plain", name) },
	"Clone":          func(v cloneCaller, name string) error { return v.Clone(name, "cloned") },
	"CloneFile":      func(v cloneCaller, name string) error { return v.CloneFile(name, "cloned") },
	"CloneFile over": func(v cloneCaller, name string) error { return v.CloneFile("plain", name) },
	"Clone and write": func(v cloneCaller, name string) error {
		return errors.Join(edgeWrite(v, name, 65_000, 10), v.Clone(name, "cloned"), edgeWrite(v, name, 65_000, 20), edgeWrite(v, "cloned", 150_000, 20))
	},
}

// edgeBytes returns n bytes.
func edgeBytes(c byte, n int) []byte { return bytes.Repeat([]byte{c}, n) }

func edgeWrite(v treeChanger, name string, off int64, n int) error {
	return withFile(v, name, func(f *folio.File) error { return must.Second(f.WriteAt(edgeBytes('W', n), off)) })
}

func edgeTruncate(v treeChanger, name string, size int64) error {
	return withFile(v, name, func(f *folio.File) error { return f.Truncate(size) })
}

func withFile(v treeChanger, name string, fn func(f *folio.File) error) error {
	f, err := v.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(fn(f), f.Close())
}

// edgeFiles makes a file with a hole in its second chunk, f, two clones of it, c and d, or copies,
// and a file that has nothing to do with it.
func edgeFiles(v *folio.Volume, copied bool) error {
	clone := v.CloneFile
	if copied {
		clone = v.CopyFile
	}
	return errors.Join(
		v.WriteFile("plain", edgeBytes('p', 150_000), 0o644), v.WriteFile("f", edgeBytes('f', 65_536), 0o644),
		edgeTruncate(v, "f", 131_072), edgeWriteFill(v, "f"), clone("f", "c"), clone("c", "d"),
	)
}

func edgeWriteFill(v treeChanger, name string) error {
	return withFile(v, name, func(f *folio.File) error { return must.Second(f.WriteAt(edgeBytes('g', 68_928), 131_072)) })
}

// cloneStates are the conditions under which a file is changed: in a volume with clones, and in one
// with copies in their place.
var cloneStates = map[string]struct {
	target string
	call   func(t *testing.T, v *folio.Volume, op func(v cloneCaller, name string) error)
}{
	"base":  {"f", edgePlain},
	"clone": {"c", edgePlain}, "clone of a clone": {"d", edgePlain},
	"base in a transaction": {"f", edgeUpdate(nil)}, "clone in a transaction": {"c", edgeUpdate(nil)},
	"base rolled back": {"f", edgeUpdate(errUndone)}, "clone rolled back": {"c", edgeUpdate(errUndone)},
	"base by another process": {"f", edgeAgain}, "clone by another process": {"d", edgeAgain},
	"base with snapshots": {"f", edgeSnapshots}, "clone with snapshots": {"c", edgeSnapshots},
	"base without a name": {"c", edgeOrphaned}, "base open without a name": {"d", edgeOpen},
	"base twice": {"f", edgeTwice}, "clone twice": {"c", edgeTwice},
}

var errUndone = errors.New("rolled back")

func edgePlain(_ *testing.T, v *folio.Volume, op func(v cloneCaller, name string) error) {
	_ = op(v, "")
}

func edgeUpdate(undo error) func(t *testing.T, v *folio.Volume, op func(v cloneCaller, name string) error) {
	return func(_ *testing.T, v *folio.Volume, op func(v cloneCaller, name string) error) {
		_ = v.Update(context.Background(), func(tx *folio.Tx) error {
			if err := op(tx, ""); err != nil {
				return err
			}
			return undo
		})
	}
}

func edgeAgain(t *testing.T, v *folio.Volume, op func(v cloneCaller, name string) error) {
	other := Again(t, v, nil)
	_ = op(other, "")
	must.Do(t, other.Close())
}

func edgeTwice(_ *testing.T, v *folio.Volume, op func(v cloneCaller, name string) error) {
	_, _ = op(v, ""), op(v, "")
}

// edgeSnapshots makes a snapshot before and after the change, which must stay true.
func edgeSnapshots(t *testing.T, v *folio.Volume, op func(v cloneCaller, name string) error) {
	texts := make(map[string]string)
	for _, name := range []string{"before", "after"} {
		must.Do(t, v.CreateSnapshot(t.Context(), name))
		texts[name] = PlainText(t, v, false)
		_ = op(v, "")
	}
	_ = v.Remove("f")
	_ = v.WriteFile("d", []byte("other"), 0o644)
	for name, want := range texts {
		at, err := v.OpenSnapshot(t.Context(), name)
		must.Do(t, err)
		if got := PlainText(t, at, false); got != want {
			t.Errorf("snapshot %s: %s", name, roottest.Difference(got, want))
		}
		must.Do(t, at.Close())
	}
	WantClean(t, v)
	must.Do(t, must.Second(v.Restore(t.Context(), "before", ".", nil)))
	if got := PlainText(t, v, false); got != texts["before"] {
		t.Errorf("restored: %s", roottest.Difference(got, texts["before"]))
	}
	for name := range texts {
		must.Do(t, v.RemoveSnapshot(t.Context(), name))
	}
}

func edgeOrphaned(t *testing.T, v *folio.Volume, op func(v cloneCaller, name string) error) {
	must.Do(t, v.Remove("f"))
	_ = op(v, "")
}

func edgeOpen(t *testing.T, v *folio.Volume, op func(v cloneCaller, name string) error) {
	f, err := v.OpenFile("f", os.O_RDWR, 0)
	must.Do(t, err)
	must.Do(t, v.Remove("f"))
	must.Do(t, must.Second(f.WriteAt(edgeBytes('o', 100), 65_500)))
	_ = op(v, "")
	must.Do(t, f.Truncate(70_000))
	p := make([]byte, 70_000)
	must.Do(t, must.Second(f.ReadAt(p, 0)))
	if want := string(edgeBytes('f', 65_500)) + string(edgeBytes('o', 100)) + string(make([]byte, 4400)); string(p) != want {
		t.Error("the open file has another content")
	}
	must.Do(t, f.Close())
}

// TestCloneEdges changes a file in each way and under each condition. The files that shared its
// content stay as they are. At the end, whatever remains can be cloned, checked and removed.
func TestCloneEdges(t *testing.T) {
	if testing.Short() { // one goroutine changes each volume
		t.Skip("in one goroutine")
	}
	t.Parallel()
	for state, s := range cloneStates {
		for edge, op := range cloneEdges {
			t.Run(state+"/"+edge, func(t *testing.T) {
				t.Parallel()
				var texts [2]string
				for i := range texts {
					v := Memory(t, nil)
					if strings.Contains(state, "process") || strings.Contains(state, "snapshots") {
						v = Empty(t)
					}
					must.Do(t, edgeFiles(v, i == 1))
					s.call(t, v, func(v cloneCaller, _ string) error { return op(v, s.target) })
					texts[i] = PlainText(t, v, false)
					WantClean(t, v)
					wantAllGone(t, v)
				}
				if texts[0] != texts[1] {
					t.Errorf("with clones: %s", roottest.Difference(texts[0], texts[1]))
				}
			})
		}
	}
}

// wantAllGone removes all files, and looks whether anything is left of them.
func wantAllGone(t *testing.T, v *folio.Volume) {
	t.Helper()
	list, err := v.ReadDir(".")
	must.Do(t, err)
	for _, e := range list {
		must.Do(t, v.RemoveAll(e.Name()))
	}
	must.Do(t, v.Compact(t.Context(), nil))
	r, err := v.Check(t.Context(), nil)
	must.Do(t, err)
	info, err := v.Info(t.Context())
	must.Do(t, err)
	if !r.OK() || r.Chunks > 0 || r.Nodes > 1 || info.Version != 1 {
		t.Errorf("%d chunks, %d inodes, version %d, %v", r.Chunks, r.Nodes, info.Version, r.Problems)
	}
}

// TestCloneQuota writes to bases and clones in a volume that may not grow.
func TestCloneQuota(t *testing.T) {
	t.Parallel()
	const limit = 2 << 20
	v := Limited(t, limit)
	content := edgeBytes('x', 700_000)
	must.Do(t, v.WriteFile("f", content, 0o644))
	n := 0
	for ; n < 5; n++ {
		must.Do(t, v.Clone("f", fmt.Sprint("c", n)))
	}
	WantWithin(t, v, limit)
	WantFull(t, "WriteFile of the base", v.WriteFile("f", edgeBytes('y', 700_000), 0o644))
	WantFull(t, "Truncate of the base", edgeTruncate(v, "f", 0))
	WantWithin(t, v, limit)
	must.Do(t, v.WriteFile("c0", []byte("short"), 0o644))
	must.Do(t, edgeTruncate(v, "c1", 100_000))
	for i := range n {
		must.Do(t, v.Remove(fmt.Sprint("c", i)))
	}
	must.Do(t, v.WriteFile("f", edgeBytes('y', 700_000), 0o644))
	WantClean(t, v)
	WantWithin(t, v, limit)
}

// TestCloneRepair removes what belongs to clones from the schema, and rows that cannot be. Repair
// makes it again, and no content is lost.
func TestCloneRepair(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"a trigger":       "DROP TRIGGER data_given_update",
		"another trigger": "DROP TRIGGER node_given_delete; DROP TRIGGER data_hidden_delete",
		"the version":     "PRAGMA user_version = 1",
		"the numbers":     "PRAGMA user_version = 0; PRAGMA application_id = 0",
		"a row too many":  "INSERT INTO origin VALUES (9999, 2, 1)",
		"a strange row":   "INSERT INTO origin VALUES ((SELECT ino FROM entry WHERE name = 'plain'), 'text', 1)",
		"a base too many": "INSERT INTO origin VALUES ((SELECT ino FROM entry WHERE name = 'plain'), 7777, 1)",
		"a chain":         "INSERT INTO origin VALUES ((SELECT ino FROM entry WHERE name = 'plain'), (SELECT ino FROM entry WHERE name = 'c'), 1)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := Empty(t)
			must.Do(t, edgeFiles(v, false))
			want := PlainText(t, v, false)
			info, err := v.Info(t.Context())
			must.Do(t, errors.Join(err, v.Close()))
			sqlite(t, info.Path, sql)
			v, err = folio.Open(info.Path, nil)
			if err != nil {
				must.Do(t, must.Second(folio.RepairSchema(t.Context(), info.Path)))
				v, err = folio.Open(info.Path, nil)
				must.Do(t, err)
			} else if r, err := v.Check(t.Context(), nil); err != nil || r.OK() {
				t.Errorf("Check: %v, %v", r.Problems, err)
			}
			report, err := v.Repair(t.Context())
			must.Do(t, err)
			if !report.OK() {
				t.Errorf("left: %v, repaired: %v", report.Problems, report.Repairs)
			}
			again, err := v.Repair(t.Context())
			must.Do(t, err)
			if len(again.Repairs) > 0 {
				t.Errorf("repaired again: %v", again.Repairs)
			}
			if got := PlainText(t, v, false); got != want {
				t.Error(roottest.Difference(got, want))
			}
			must.Do(t, v.WriteFile("f", []byte("changed"), 0o644))
			WantFile(t, v, "c", string(edgeBytes('f', 65_536))+string(make([]byte, 65_536))+string(edgeBytes('g', 68_928)))
			WantClean(t, v)
			_ = v.Close()
		})
	}
}

// TestCloneLoop clones a directory that has two names in a damaged volume: it ends with an error,
// and nothing has happened.
func TestCloneLoop(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	must.Do(t, errors.Join(v.MkdirAll("a/b/c", 0o755), v.WriteFile("a/f", edgeBytes('f', 5000), 0o644)))
	info, err := v.Info(t.Context())
	must.Do(t, err)
	sqlite(t, info.Path, "INSERT INTO entry SELECT ino, 'loop', (SELECT ino FROM entry WHERE name = 'a'), 2 FROM entry WHERE name = 'c'")
	if err := v.Clone("a", "x"); !errors.Is(err, folio.ErrDamaged) {
		t.Error(err)
	}
	WantNone(t, v, "x")
	err = v.Update(t.Context(), func(tx *folio.Tx) error {
		_ = tx.Clone("a", "x")
		return nil
	})
	if !errors.Is(err, folio.ErrDamaged) {
		t.Error(err)
	}
	if _, err := v.Lstat("x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
