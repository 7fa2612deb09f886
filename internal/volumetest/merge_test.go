package volumetest

import (
	"bytes"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
)

// TestMergeFull merges more than a volume may hold.
func TestMergeFull(t *testing.T) {
	t.Parallel()
	v := Limited(t, 1<<20)
	must.Do(t, v.WriteFile("old", []byte("old"), 0o644))
	src := fstest.MapFS{"old": {Data: []byte("new")}, "x/large": {Data: bytes.Repeat([]byte("large"), 1<<20)}}
	err := v.Merge(t.Context(), src, ".", &folio.MergeOptions{Policy: folio.MergeReplace})
	if pe, ok := errors.AsType[*fs.PathError](err); !ok || pe.Path != "x/large" {
		t.Errorf("%v does not name the file", err)
	}
	WantFull(t, "Merge", err)
	WantFile(t, v, "old", "old")
	WantWithin(t, v, 1<<20)
	WantClean(t, v)
}

// TestMergeDamaged merges volumes whose directories lie in themselves, or twice in another one, and
// over such a volume.
func TestMergeDamaged(t *testing.T) {
	t.Parallel()
	endless := func(b *native.Builder) error {
		return errors.Join(b.Node(&store.Node{Ino: 2, Mode: store.ModeDir, Nlink: 2}),
			b.Entry(store.Root, store.Entry{Name: "a", Ino: 2, Type: store.Dir}), b.Entry(store.Root, store.Entry{Name: "b", Ino: 2, Type: store.Dir}),
			b.Entry(2, store.Entry{Name: "a", Ino: 2, Type: store.Dir}), b.Entry(2, store.Entry{Name: "b", Ino: 2, Type: store.Dir}))
	}
	src := Craft(t, PlainRoot, endless)
	v := Empty(t)
	if err := v.Merge(t.Context(), src.FS(), "x", nil); !errors.Is(err, folio.ErrDamaged) {
		t.Errorf("%v, want ErrDamaged", err)
	}
	WantNone(t, v, "x")
	over := Craft(t, PlainRoot, endless)
	must.Do(t, over.Merge(t.Context(), fstest.MapFS{"a/b/a/f": {Data: []byte("f")}, "b/a/g": {Data: []byte("g")}}, "a", nil))
	WantFile(t, over, "b/a/f", "f")
	WantFile(t, over, "a/g", "g")
}
