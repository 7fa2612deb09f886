package volumetest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
)

var snapshotOps = flag.Int("snapshot.ops", 4000, "operations of the test of snapshots")

// TestSnapshots changes a volume at random by two connections, makes and removes snapshots, and
// reads them: each shows what the volume was like when it was made. More:
//
//	go test ./internal/volumetest -run TestSnapshots -snapshot.ops 1000000 -timeout 2h
func TestSnapshots(t *testing.T) {
	if testing.Short() { // one goroutine does all this
		t.Skip("in one goroutine")
	}
	t.Parallel()
	r := random.New(t)
	v := Empty(t)
	h := NewHistory(r, v, v, Again(t, v, nil))
	h.Run(t, *snapshotOps)
	WantClean(t, v)
	h.End(t)
	WantClean(t, v)
}

// TestSnapshotsGone makes the same changes with and without snapshots. When these are removed, and
// both volumes are compact, they have the same tables and the same size.
func TestSnapshotsGone(t *testing.T) {
	if testing.Short() { // one goroutine does all this
		t.Skip("in one goroutine")
	}
	t.Parallel()
	seed := random.New(t).Uint64()
	var sizes [2]int64
	var schemas [2]string
	for i := range sizes {
		r := rand.New(rand.NewPCG(seed, 0))
		v := Empty(t)
		for n := range 600 {
			if i == 1 && n%20 == 7 {
				must.Do(t, v.CreateSnapshot(t.Context(), fmt.Sprint("s", n)))
			}
			randomChange(r, v)
		}
		list, err := v.Snapshots(t.Context())
		must.Do(t, err)
		for _, s := range list {
			must.Do(t, v.RemoveSnapshot(t.Context(), s.Name))
		}
		must.Do(t, v.Compact(t.Context(), nil))
		info, err := v.Info(t.Context())
		must.Do(t, errors.Join(err, v.Close()))
		sizes[i], schemas[i] = Size(t, Open(t, info.Path)), sqlite(t, info.Path, "SELECT group_concat(sql) FROM sqlite_schema")
	}
	if sizes[0] != sizes[1] || schemas[0] != schemas[1] {
		t.Errorf("%d bytes with snapshots that are gone, %d without; %s, %s", sizes[1], sizes[0], schemas[1], schemas[0])
	}
}

// TestSnapshotHalfRemoved opens a volume in which a process has begun to remove a snapshot and
// died: the next one that writes removes the rest.
func TestSnapshotHalfRemoved(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	must.Do(t, v.WriteFile("f", []byte("content"), 0o644))
	must.Do(t, v.CreateSnapshot(t.Context(), "s"))
	must.Do(t, v.WriteFile("f", []byte("changed"), 0o644))
	info, err := v.Info(t.Context())
	must.Do(t, errors.Join(err, v.Close()))
	sqlite(t, info.Path, "UPDATE snapshot SET name = NULL")
	v, err = folio.Open(info.Path, nil)
	must.Do(t, err)
	if list, err := v.Snapshots(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	WantClean(t, v)
	must.Do(t, errors.Join(v.WriteFile("g", nil, 0o644), v.Close()))
	if got := sqlite(t, info.Path, "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%was%' OR name = 'snapshot'"); got != "0" {
		t.Errorf("%s objects are left", got)
	}
}

// TestSnapshotNumbers writes to volumes whose snapshots have hostile numbers. No call goes on for
// ever: neither where a removed snapshot has the last number of all, nor where the keys of kept
// rows are of a kind that they must not be.
func TestSnapshotNumbers(t *testing.T) {
	t.Parallel()
	for _, change := range []string{
		"INSERT INTO snapshot VALUES (9223372036854775807, NULL, 0, 1000)",
		"INSERT INTO snapshot VALUES (4611686018427387904, NULL, 1, 1000)",
		"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO data_was SELECT CAST('b' || i AS BLOB), 1, 0 FROM n",
		"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO data_was SELECT i, 9223372036854775807, 0 FROM n",
	} {
		v := Empty(t)
		must.Do(t, v.WriteFile("f", []byte("content"), 0o644))
		must.Do(t, v.CreateSnapshot(t.Context(), "s"))
		info, err := v.Info(t.Context())
		must.Do(t, errors.Join(err, v.Close()))
		sqlite(t, info.Path, change)
		v = Open(t, info.Path)
		must.Do(t, v.WriteFile("f", []byte("changed"), 0o644))
		must.Do(t, v.WriteFile("f", []byte("again"), 0o644))
		at, err := v.OpenSnapshot(t.Context(), "s")
		must.Do(t, err)
		if p, err := at.ReadFile("f"); err != nil || string(p) != "content" {
			t.Errorf("%s: %q, %v", change, p, err)
		}
		if err := v.CreateSnapshot(t.Context(), "t"); err != nil && !errors.Is(err, folio.ErrFull) {
			t.Errorf("%s: Snapshot: %v", change, err)
		}
		if err := v.RemoveSnapshot(t.Context(), "s"); err != nil && !errors.Is(err, folio.ErrDamaged) {
			t.Errorf("%s: RemoveSnapshot: %v", change, err)
		}
		if _, err := v.Check(t.Context(), nil); err != nil {
			t.Errorf("%s: Check: %v", change, err)
		}
	}
}

// TestSnapshotErrors tries what must fail.
func TestSnapshotErrors(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	ctx := context.Background()
	must.Do(t, v.CreateSnapshot(ctx, "a"))
	for _, name := range []string{"", ".", "..", "a@b", "a:b", "a/b", "a\nb", "\xff", string(make([]byte, 300))} {
		if err := v.CreateSnapshot(ctx, name); !errors.Is(err, folio.ErrSnapshotName) || !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Snapshot(%q): %v", name, err)
		}
		if _, err := v.OpenSnapshot(ctx, name); !errors.Is(err, folio.ErrNoSnapshot) {
			t.Errorf("At(%q): %v", name, err)
		}
	}
	if err := v.CreateSnapshot(ctx, "a"); !errors.Is(err, folio.ErrSnapshotExists) || !errors.Is(err, fs.ErrExist) {
		t.Errorf("again: %v", err)
	}
	if err := v.RemoveSnapshot(ctx, "b"); !errors.Is(err, folio.ErrNoSnapshot) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
	at, err := v.OpenSnapshot(ctx, "a")
	must.Do(t, err)
	if err := at.WriteFile("x", nil, 0o644); !errors.Is(err, folio.ErrReadOnly) {
		t.Errorf("written: %v", err)
	}
	must.Do(t, v.RemoveSnapshot(ctx, "a"))
	if _, err := at.ReadDir("."); !errors.Is(err, folio.ErrNoSnapshot) {
		t.Errorf("read after it was removed: %v", err)
	}
	must.Do(t, at.Close())
	if _, err := at.ReadDir("."); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read after Close: %v", err)
	}
}

// TestSnapshotInView reads snapshots in transactions that read and write the live files, too.
func TestSnapshotInView(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	ctx := t.Context()
	want := func(rx *folio.Rx, name, content string) {
		t.Helper()
		if p, err := rx.ReadFile(name); string(p) != content {
			t.Errorf("%s: %q, %v, want %q", name, p, err, content)
		}
	}
	must.Do(t, v.MkdirAll("d/e", 0o755))
	must.Do(t, v.WriteFile("d/e/f", []byte("first"), 0o644))
	must.Do(t, v.CreateSnapshot(ctx, "a"))
	must.Do(t, v.WriteFile("d/e/f", []byte("second"), 0o644))
	must.Do(t, v.CreateSnapshot(ctx, "b"))
	must.Do(t, v.Rename("d", "c"))
	var ended []*folio.Rx
	must.Do(t, v.View(ctx, func(rx *folio.Rx) error {
		a, err := rx.At("a")
		must.Do(t, err)
		b, err := rx.At("b")
		must.Do(t, err)
		must.Do(t, Again(t, v, nil).RemoveSnapshot(ctx, "a")) // by another connection: the view does not see it
		want(a, "d/e/f", "first")
		want(b, "d/e/f", "second")
		want(rx, "c/e/f", "second")
		again, err := b.At("a")
		must.Do(t, err)
		want(again, "d/e/f", "first")
		if _, err := rx.At("none"); !errors.Is(err, folio.ErrNoSnapshot) {
			t.Errorf("none: %v", err)
		}
		ended = append(ended, a, b, again)
		return nil
	}))
	must.Do(t, v.Update(ctx, func(tx *folio.Tx) error {
		b, err := tx.At("b")
		must.Do(t, err)
		for i := range 3 {
			must.Do(t, tx.WriteFile("c/e/f", fmt.Append(nil, "new", i), 0o600))
			must.Do(t, tx.WriteFile(fmt.Sprint("c/e/young", i), nil, 0o600))
			want(b, "d/e/f", "second")
			want(&tx.Rx, "c/e/f", fmt.Sprint("new", i))
			if list, err := b.ReadDir("d/e"); len(list) != 1 {
				t.Errorf("%v, %v", list, err)
			}
		}
		must.Do(t, tx.RemoveAll("c"))
		want(b, "d/e/f", "second")
		p, err := b.ReadFile("d/e/f")
		must.Do(t, err)
		ended = append(ended, b)
		return tx.WriteFile("f", p, 0o644) // a restore by hand
	}))
	must.Do(t, v.View(ctx, func(rx *folio.Rx) error { want(rx, "f", "second"); return nil }))
	for _, rx := range ended {
		if _, err := rx.ReadFile("d/e/f"); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
	}
	WantClean(t, v)
}

// TestRemoveSnapshots removes several snapshots or none, and no snapshot but those that were
// listed.
func TestRemoveSnapshots(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	ctx := t.Context()
	names := func() (all string) {
		list, err := v.Snapshots(ctx)
		must.Do(t, err)
		for _, s := range list {
			all += s.Name
		}
		return all
	}
	for _, name := range []string{"a", "b", "c"} {
		must.Do(t, v.CreateSnapshot(ctx, name))
		must.Do(t, v.WriteFile("f", []byte(name), 0o644))
	}
	list, err := v.Snapshots(ctx)
	must.Do(t, err)
	must.Do(t, Again(t, v, nil).RemoveSnapshot(ctx, "b"))
	must.Do(t, v.CreateSnapshot(ctx, "b"))
	err = v.RemoveSnapshots(ctx, list...)
	if e, ok := errors.AsType[*fs.PathError](err); !errors.Is(err, folio.ErrNoSnapshot) || !ok || !strings.HasSuffix(e.Path, "@b") {
		t.Errorf("another process has made it again: %v", err)
	}
	if got := names(); got != "acb" {
		t.Errorf("there are %s", got)
	}
	if err := v.RemoveSnapshots(ctx, list[0], folio.Snapshot{Name: "none"}); !errors.Is(err, folio.ErrNoSnapshot) {
		t.Errorf("none: %v", err)
	}
	must.Do(t, v.RemoveSnapshots(ctx))
	must.Do(t, v.RemoveSnapshots(ctx, list[0], list[0], folio.Snapshot{Name: "b"}))
	if got := names(); got != "c" {
		t.Errorf("%s is left", got)
	}
	WantClean(t, v)
}
