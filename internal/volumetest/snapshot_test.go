package volumetest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"testing"

	"github.com/foliofs/folio"
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
	r := Random(t)
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
	seed := Random(t).Uint64()
	var sizes [2]int64
	var schemas [2]string
	for i := range sizes {
		r := rand.New(rand.NewPCG(seed, 0))
		v := Empty(t)
		for n := range 600 {
			if i == 1 && n%20 == 7 {
				Must(t, v.Snapshot(t.Context(), fmt.Sprint("s", n)))
			}
			randomChange(r, v)
		}
		list, err := v.Snapshots(t.Context())
		Must(t, err)
		for _, s := range list {
			Must(t, v.RemoveSnapshot(t.Context(), s.Name))
		}
		Must(t, v.Compact(t.Context(), nil))
		info, err := v.Info(t.Context())
		Must(t, errors.Join(err, v.Close()))
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
	Must(t, v.WriteFile("f", []byte("content"), 0o644))
	Must(t, v.Snapshot(t.Context(), "s"))
	Must(t, v.WriteFile("f", []byte("changed"), 0o644))
	info, err := v.Info(t.Context())
	Must(t, errors.Join(err, v.Close()))
	sqlite(t, info.Path, "UPDATE snapshot SET name = NULL")
	v, err = folio.Open(info.Path, nil)
	Must(t, err)
	if list, err := v.Snapshots(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	WantClean(t, v)
	Must(t, errors.Join(v.WriteFile("g", nil, 0o644), v.Close()))
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
		Must(t, v.WriteFile("f", []byte("content"), 0o644))
		Must(t, v.Snapshot(t.Context(), "s"))
		info, err := v.Info(t.Context())
		Must(t, errors.Join(err, v.Close()))
		sqlite(t, info.Path, change)
		v = Open(t, info.Path)
		Must(t, v.WriteFile("f", []byte("changed"), 0o644))
		Must(t, v.WriteFile("f", []byte("again"), 0o644))
		at, err := v.At("s")
		Must(t, err)
		if p, err := at.ReadFile("f"); err != nil || string(p) != "content" {
			t.Errorf("%s: %q, %v", change, p, err)
		}
		if err := v.Snapshot(t.Context(), "t"); err != nil && !errors.Is(err, folio.ErrFull) {
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
	Must(t, v.Snapshot(ctx, "a"))
	for _, name := range []string{"", ".", "..", "a@b", "a:b", "a/b", "a\nb", "\xff", string(make([]byte, 300))} {
		if err := v.Snapshot(ctx, name); !errors.Is(err, folio.ErrSnapshotName) || !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Snapshot(%q): %v", name, err)
		}
		if _, err := v.At(name); !errors.Is(err, folio.ErrNoSnapshot) {
			t.Errorf("At(%q): %v", name, err)
		}
	}
	if err := v.Snapshot(ctx, "a"); !errors.Is(err, folio.ErrSnapshotExists) || !errors.Is(err, fs.ErrExist) {
		t.Errorf("again: %v", err)
	}
	if err := v.RemoveSnapshot(ctx, "b"); !errors.Is(err, folio.ErrNoSnapshot) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
	err := v.Update(ctx, func(*folio.Tx) error { return v.Snapshot(ctx, "c") })
	if !errors.Is(err, folio.ErrInUpdate) {
		t.Errorf("in Update: %v", err)
	}
	at, err := v.At("a")
	Must(t, err)
	if err := at.WriteFile("x", nil, 0o644); !errors.Is(err, folio.ErrReadOnly) {
		t.Errorf("written: %v", err)
	}
	Must(t, v.RemoveSnapshot(ctx, "a"))
	if _, err := at.ReadDir("."); !errors.Is(err, folio.ErrNoSnapshot) {
		t.Errorf("read after it was removed: %v", err)
	}
	Must(t, at.Close())
	if _, err := at.ReadDir("."); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read after Close: %v", err)
	}
}
