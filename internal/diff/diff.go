// Package diff finds the differences between two states of a volume, each a snapshot or the volume
// as it is.
package diff

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/foliofs/folio/internal/store"
)

// A Kind is a set of ways in which a file can differ. Made and Removed stand alone.
type Kind uint8

// The kinds.
const (
	Made Kind = 1 << iota
	Removed
	Moved
	Content
	Attributes
)

// A Change is a difference of one name.
type Change struct {
	Kind Kind
	Path string // in the second state; of a file that was removed, in the first
	Old  string // in the first state, if the file was moved
	Ino  store.Ino
	Mode uint32 // of the file in the state with Path
}

// Compare returns the changes from state a to state b, sorted by path. The two differ in all at
// most.
func Compare(ctx context.Context, a, b store.Rx, all *store.Differences) ([]Change, error) {
	d := differ{ctx: ctx, states: [2]State{{Rx: a, All: all}, {Rx: b, All: all}}, all: all}
	if err := d.run(); err != nil {
		return nil, err
	}
	slices.SortFunc(d.list, func(a, b Change) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind)) })
	return d.list, nil
}

// A differ compares two states.
type differ struct {
	ctx    context.Context
	states [2]State
	all    *store.Differences
	list   []Change
	chunk  [2][]byte
}

func (d *differ) run() error {
	for _, ino := range d.all.Nodes {
		if err := d.ctx.Err(); err != nil {
			return err
		}
		if err := d.compare(ino); err != nil {
			return err
		}
	}
	return nil
}

// compare compares one inode.
func (d *differ) compare(ino store.Ino) error {
	var nodes [2]store.Node
	var names [2][]store.EntryKey
	for i := range d.states {
		var err error
		if names[i], err = d.states[i].Names(ino); err != nil {
			return err
		}
		if len(names[i]) == 0 && ino != store.Root {
			continue
		}
		if nodes[i], err = d.states[i].Rx.Node(ino); err != nil {
			return err
		}
	}
	var kind Kind
	if nodes[0].Ino != 0 && nodes[1].Ino != 0 {
		var err error
		if kind, err = d.kind(&nodes[0], &nodes[1]); err != nil {
			return err
		}
	}
	if ino == store.Root {
		d.add(kind, ".", &nodes[1])
		return nil
	}
	return d.addNames(kind, names, &nodes)
}

// addNames adds the changes of an inode with these names in the two states.
func (d *differ) addNames(kind Kind, names [2][]store.EntryKey, nodes *[2]store.Node) error {
	old, err := d.paths(0, without(names[0], names[1]))
	if err != nil {
		return err
	}
	made, err := d.paths(1, without(names[1], names[0]))
	if err != nil {
		return err
	}
	kept, err := d.paths(1, intersection(names[0], names[1]))
	if err != nil {
		return err
	}
	for ; len(old) > 0 && len(made) > 0; old, made = old[1:], made[1:] {
		d.add(kind|Moved, made[0], &nodes[1])
		d.list[len(d.list)-1].Old = old[0]
	}
	for _, path := range old {
		d.add(Removed, path, &nodes[0])
	}
	for _, path := range made {
		d.add(Made, path, &nodes[1])
	}
	for _, path := range kept {
		d.add(kind, path, &nodes[1])
	}
	return nil
}

// add adds a change, if it is one.
func (d *differ) add(kind Kind, path string, n *store.Node) {
	if kind != 0 {
		d.list = append(d.list, Change{Kind: kind, Path: path, Ino: n.Ino, Mode: n.Mode})
	}
}

// without returns the names of a that b lacks, intersection those that it has.
func without(a, b []store.EntryKey) []store.EntryKey {
	return slices.DeleteFunc(slices.Clone(a), func(k store.EntryKey) bool { return slices.Contains(b, k) })
}

func intersection(a, b []store.EntryKey) []store.EntryKey {
	return slices.DeleteFunc(slices.Clone(a), func(k store.EntryKey) bool { return !slices.Contains(b, k) })
}

// paths returns the paths of names in a state.
func (d *differ) paths(i int, keys []store.EntryKey) (list []string, err error) {
	for _, key := range keys {
		path, err := d.states[i].path(key)
		if err != nil {
			return nil, err
		}
		list = append(list, path)
	}
	slices.Sort(list)
	return list, nil
}

// kind compares an inode with itself in the other state.
func (d *differ) kind(a, b *store.Node) (kind Kind, err error) {
	isDir := store.TypeOf(a.Mode) == store.Dir
	same, err := d.sameXattrs(a.Ino)
	if err != nil {
		return 0, err
	}
	if !same || a.Mode != b.Mode || a.UID != b.UID || a.GID != b.GID || !isDir && a.Mtime != b.Mtime {
		kind = Attributes
	}
	if isDir {
		return kind, nil
	}
	if same, err = d.sameContent(a, b); err == nil && !same {
		kind |= Content
	}
	return kind, err
}

func (d *differ) sameXattrs(ino store.Ino) (bool, error) {
	a, err := d.states[0].Rx.Xattrs(ino)
	if err != nil {
		return false, err
	}
	b, err := d.states[1].Rx.Xattrs(ino)
	return slices.EqualFunc(a, b, func(a, b store.Xattr) bool { return a.Name == b.Name && bytes.Equal(a.Value, b.Value) }), err
}

// sameContent compares the chunks that were changed.
func (d *differ) sameContent(a, b *store.Node) (bool, error) {
	if a.Size != b.Size || a.Rdev != b.Rdev {
		return false, nil
	}
	first, _ := slices.BinarySearch(d.all.Chunks, store.DataID(a.Ino, 0))
	for _, id := range d.all.Chunks[first:] {
		if store.Ino(id>>store.ChunkBits) != a.Ino {
			break
		}
		off := id & (1<<store.ChunkBits - 1) << store.ChunkShift
		if off >= a.Size {
			break
		}
		for i, n := range []*store.Node{a, b} {
			if d.chunk[i] == nil {
				d.chunk[i] = make([]byte, store.ChunkSize)
			}
			size, err := d.states[i].Rx.ReadAt(*n, d.chunk[i][:store.ChunkSize], off)
			if err != nil && err != io.EOF {
				return false, err
			}
			d.chunk[i] = d.chunk[i][:size]
		}
		if !bytes.Equal(d.chunk[0], d.chunk[1]) {
			return false, nil
		}
	}
	return true, nil
}

// A State is one of two states that are compared.
type State struct {
	Rx    store.Rx
	All   *store.Differences
	found map[store.Ino]string // the paths of directories
}

// Names returns the names that lead to an inode.
func (s *State) Names(ino store.Ino) (list []store.EntryKey, err error) {
	for _, key := range s.All.Names[ino] {
		e, err := s.Rx.Lookup(key.Dir, key.Name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil && e.Ino == ino {
			list = append(list, key)
		}
	}
	return list, nil
}

// path returns the path of a name.
func (s *State) path(key store.EntryKey) (string, error) {
	dir, err := s.dir(key.Dir, 0)
	if err != nil || dir == "" {
		return key.Name, err
	}
	return dir + "/" + key.Name, nil
}

// dir returns the path of a directory, "" for the root. There are depth directories below it.
func (s *State) dir(ino store.Ino, depth int) (string, error) {
	if ino == store.Root {
		return "", nil
	}
	if path, ok := s.found[ino]; ok {
		return path, nil
	}
	names, err := s.Names(ino)
	if err != nil {
		return "", err
	}
	if len(names) != 1 || depth > store.MaxPath {
		return "", store.Damaged("directory %d has %d names", ino, len(names))
	}
	above, err := s.dir(names[0].Dir, depth+1)
	if err != nil {
		return "", err
	}
	path := names[0].Name
	if above != "" {
		path = above + "/" + path
	}
	if s.found == nil {
		s.found = make(map[store.Ino]string)
	}
	s.found[ino] = path
	return path, nil
}
