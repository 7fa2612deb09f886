package volumetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/random"
)

// TestDiff compares random states with Diff, and by looking at every file of both.
func TestDiff(t *testing.T) {
	if testing.Short() { // one goroutine does all this
		t.Skip("in one goroutine")
	}
	t.Parallel()
	r := random.New(t)
	v := Empty(t)
	states := map[string]*seen{}
	for i := range 60 {
		for range r.IntN(40) {
			randomChange(r, v)
		}
		name := fmt.Sprint("s", i)
		must.Do(t, v.CreateSnapshot(t.Context(), name))
		states[name] = look(t, v)
		if r.IntN(4) == 0 && len(states) > 3 {
			gone := slices.Sorted(maps.Keys(states))[r.IntN(len(states))]
			must.Do(t, v.RemoveSnapshot(t.Context(), gone))
			delete(states, gone)
		}
		for range r.IntN(20) {
			randomChange(r, v)
		}
		now := look(t, v)
		names := append(slices.Sorted(maps.Keys(states)), "")
		for range 4 {
			from, to := names[r.IntN(len(names))], names[r.IntN(len(names))]
			of := func(name string) *seen {
				if name == "" {
					return now
				}
				return states[name]
			}
			want := difference(of(from), of(to))
			var got []folio.Change
			for c, err := range v.Diff(t.Context(), from, to) {
				must.Do(t, err)
				got = append(got, c)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("from %q to %q:\n%v\nwant\n%v", from, to, got, want)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range v.Diff(ctx, slices.Sorted(maps.Keys(states))[0], "") {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
	for _, err := range v.Diff(t.Context(), "none", "") {
		if !errors.Is(err, folio.ErrNoSnapshot) {
			t.Errorf("without the snapshot: %v", err)
		}
	}
}

// A seenName is a name in a directory.
type seenName struct {
	dir  uint64
	name string
}

// seen is everything about a tree.
type seen struct {
	names map[uint64]map[seenName]string // of each inode, with its paths
	nodes map[uint64]folio.Node
	attrs map[uint64]map[string][]byte
	text  map[uint64]string
}

func look(t *testing.T, v *folio.Volume) *seen {
	t.Helper()
	s := &seen{map[uint64]map[seenName]string{}, map[uint64]folio.Node{}, map[uint64]map[string][]byte{}, map[uint64]string{}}
	inos := map[string]uint64{}
	must.Do(t, fs.WalkDir(v.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		must.Do(t, err)
		info, err := v.Lstat(name)
		must.Do(t, err)
		n := *info.Sys().(*folio.Node)
		inos[name] = n.Ino
		s.nodes[n.Ino] = n
		if s.names[n.Ino] == nil {
			s.names[n.Ino] = map[seenName]string{}
		}
		s.names[n.Ino][seenName{inos[path.Dir(name)], path.Base(name)}] = name
		s.attrs[n.Ino], err = v.Xattrs(name)
		must.Do(t, err)
		switch {
		case info.Mode().IsRegular():
			p, err := v.ReadFile(name)
			must.Do(t, err)
			s.text[n.Ino] = string(p)
		case info.Mode()&fs.ModeSymlink != 0:
			s.text[n.Ino], err = v.Readlink(name)
			must.Do(t, err)
		}
		return nil
	}))
	return s
}

// difference is Diff of two trees that were looked at.
func difference(a, b *seen) (list []folio.Change) {
	inos := maps.Clone(a.nodes)
	maps.Copy(inos, b.nodes)
	for ino := range inos {
		var kind folio.ChangeKind
		x, y := a.nodes[ino], b.nodes[ino]
		if x.Ino != 0 && y.Ino != 0 {
			isDir := posix.FileMode(y.Mode).IsDir()
			if x.Mode != y.Mode || x.UID != y.UID || x.GID != y.GID || !isDir && x.Mtime != y.Mtime || !maps.EqualFunc(a.attrs[ino], b.attrs[ino], bytes.Equal) {
				kind |= folio.ChangeAttributes
			}
			if a.text[ino] != b.text[ino] {
				kind |= folio.ChangeContent
			}
		}
		var old, made, kept []string
		for key, path := range a.names[ino] {
			if _, ok := b.names[ino][key]; !ok {
				old = append(old, path)
			}
		}
		for key, path := range b.names[ino] {
			if _, ok := a.names[ino][key]; ok {
				kept = append(kept, path)
			} else {
				made = append(made, path)
			}
		}
		slices.Sort(old)
		slices.Sort(made)
		add := func(kind folio.ChangeKind, path, oldPath string, n folio.Node) {
			if kind != 0 {
				list = append(list, folio.Change{Kind: kind, Path: path, OldPath: oldPath, Ino: ino, Type: posix.FileMode(n.Mode).Type()})
			}
		}
		for ; len(old) > 0 && len(made) > 0; old, made = old[1:], made[1:] {
			add(kind|folio.ChangeMoved, made[0], old[0], y)
		}
		for _, path := range old {
			add(folio.ChangeRemoved, path, "", x)
		}
		for _, path := range made {
			add(folio.ChangeMade, path, "", y)
		}
		for _, path := range kept {
			add(kind, path, "", y)
		}
	}
	slices.SortFunc(list, func(a, b folio.Change) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}
