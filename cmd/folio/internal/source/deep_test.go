package source

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/store"
)

// deepest is how many directories within each other a path of a volume can have.
const deepest = (store.MaxPath + 1) / 2

// deepAgent has directories within each other, half of them with a file behind the next directory,
// and files far below that are names of two inodes.
func deepAgent(depth, files int) *agentDB {
	a := newAgent()
	for i := range int64(depth) {
		a.inode(2+i, 0o40755, 0)
		a.name(1+i, "d", 2+i)
	}
	next, last := int64(depth)+2, int64(depth)-4 // the files have longer names
	a.inode(next, 0o100644, 0)
	a.inode(next+1, 0o100644, 0)
	for i := range int64(files) {
		a.name(last, "f"+strconv.FormatInt(i, 36), next+i%2)
	}
	for i := range int64(depth) / 2 {
		a.inode(next+2+i, 0o100644, 0)
		a.name(1+i, "e", next+2+i)
	}
	return a
}

func deepLitefs(t testing.TB, depth, files int) string {
	t.Helper()
	var rows [][]any
	var up any
	for i := range depth {
		id := strconv.Itoa(i)
		rows = append(rows, []any{id, up, "d", litefsTime, nil})
		if i < depth/2 {
			rows = append(rows, []any{"e" + id, up, "e", litefsTime, []byte{}})
		}
		up = id
	}
	for i := range files {
		rows = append(rows, []any{"f" + strconv.Itoa(i), strconv.Itoa(depth - 6), "f" + strconv.FormatInt(int64(i), 36), litefsTime, []byte{}})
	}
	return writeLitefs(t, litefsSchema, rows...)
}

// importAll makes a volume of a source, and returns how many files it has and the most memory that
// was in use meanwhile.
func importAll(t *testing.T, path string, o *Options) (files int64, most uint64, err error) {
	t.Helper()
	src, err := Open(path, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	entries := 0
	err = folio.Create(t.Context(), filepath.Join(t.TempDir(), "a.folio"), nil, func(b *folio.Builder) error {
		err := src.Walk(t.Context(), func(e *Entry) error {
			if entries++; entries%4096 == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
			if e.Link != "" {
				return b.Link(e.Link, e.Name)
			}
			return e.AddTo(b, &e.Header)
		})
		s := b.Stats()
		files = s.Files + s.Dirs + s.Links
		return err
	})
	return files, most, err
}

// Directories within each other, as many as fit into a path, take memory for their names, and not
// for their paths. Files deep below take no time for each of the directories above. More
// directories are refused.
func TestDeepDatabases(t *testing.T) {
	const files, limit = 4_000, 128 << 20
	base := t.TempDir()
	for name, c := range map[string]struct {
		path func(depth int) string
		o    *Options
	}{
		"AgentFS": {func(depth int) string { return deepAgent(depth, files).write(t) }, nil},
		"an overlay of AgentFS": {func(depth int) string {
			a := deepAgent(depth, files)
			a.more["fs_overlay_config"] = [][]any{{"base_path", base}}
			return a.write(t)
		}, &Options{Base: base}},
		"LiteFS": {func(depth int) string { return deepLitefs(t, depth, files) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			n, most, err := importAll(t, c.path(deepest-1), c.o)
			if want := int64(deepest - 1 + (deepest-1)/2 + files); err != nil || n != want {
				t.Errorf("%d files, %v, want %d", n, err, want)
			}
			if most > limit {
				t.Errorf("%d bytes in use", most)
			}
			if _, _, err := importAll(t, c.path(deepest+1000), c.o); !errors.Is(err, folio.ErrNameTooLong) {
				t.Errorf("deeper: %v", err)
			}
		})
	}
}

// A place has the path of its names, wherever a walk goes next.
func TestPlace(t *testing.T) {
	t.Parallel()
	root := &place{}
	places, want, paths := []*place{root}, []string{"."}, joiner{}
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		i := r.IntN(len(places))
		if r.IntN(2) == 0 {
			i = len(places) - 1 - r.IntN(min(len(places), 3))
		}
		at := places[i]
		if at.path() != want[i] || i > 0 && at.size != len(want[i]) || paths.join(at, "x") != Join(want[i], "x") {
			t.Fatalf("got %q, want %q", at.path(), want[i])
		}
		name := strings.Repeat("n", 1+r.IntN(3))
		places, want = append(places, at.below(name)), append(want, Join(want[i], name))
	}
}
