package folio

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// A Change is a difference of one name between two states of a volume.
type Change struct {
	Kind    ChangeKind
	Path    string // in the second state; of a file that was removed, in the first
	OldPath string // in the first state, if the file was moved
	Ino     uint64
	Type    fs.FileMode // the type bits, of the file in the state with Path
}

// A ChangeKind is a set of ways in which a file can differ. Made and Removed stand alone.
type ChangeKind uint8

// The kinds.
const (
	ChangeMade       ChangeKind = 1 << iota // only the second state has the name
	ChangeRemoved                           // only the first state has it
	ChangeMoved                             // the same file has another name, or is in another directory
	ChangeContent                           // it has another content
	ChangeAttributes                        // it has another mode, owner, time or extended attribute
)

// String returns the ways as words, for example "moved, content".
func (k ChangeKind) String() string {
	var words []string
	for i, word := range []string{"made", "removed", "moved", "content", "attributes"} {
		if k&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

// Diff yields what differs between two states of the volume, each a snapshot, or "" for the volume
// as it is: in the order of their paths. A directory that was moved is one change, and so is each
// file in it that differs otherwise. Times of directories count for nothing, nor do those of access
// and of changes of the inode.
//
// It costs what was changed since the older of the states, and one pass over all names. An error is
// yielded once, last: ErrNoSnapshot, or that of the context.
func (v *Volume) Diff(ctx context.Context, from, to string) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		list, err := v.diff(ctx, from, to)
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
		if err != nil {
			yield(Change{}, err)
		}
	}
}

func (v *Volume) diff(ctx context.Context, from, to string) ([]Change, error) {
	s, err := v.snapshotter()
	if err != nil {
		return nil, v.volumeError("diff", err)
	}
	var d differ
	err = s.Compare(ctx, from, to, func(a, b store.Rx, all *store.Differences) error {
		d = differ{ctx: ctx, states: [2]state{{rx: a, all: all}, {rx: b, all: all}}, all: all}
		return d.run()
	})
	if err != nil {
		return nil, v.snapshotError("diff", cmp.Or(from, to), err)
	}
	slices.SortFunc(d.list, func(a, b Change) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind)) })
	return d.list, nil
}

// A differ compares two states.
type differ struct {
	ctx    context.Context
	states [2]state
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
		if names[i], err = d.states[i].names(ino); err != nil {
			return err
		}
		if len(names[i]) == 0 && ino != store.Root {
			continue
		}
		if nodes[i], err = d.states[i].rx.Node(ino); err != nil {
			return err
		}
	}
	var kind ChangeKind
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
func (d *differ) addNames(kind ChangeKind, names [2][]store.EntryKey, nodes *[2]store.Node) error {
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
		d.add(kind|ChangeMoved, made[0], &nodes[1])
		d.list[len(d.list)-1].OldPath = old[0]
	}
	for _, path := range old {
		d.add(ChangeRemoved, path, &nodes[0])
	}
	for _, path := range made {
		d.add(ChangeMade, path, &nodes[1])
	}
	for _, path := range kept {
		d.add(kind, path, &nodes[1])
	}
	return nil
}

// add adds a change, if it is one.
func (d *differ) add(kind ChangeKind, path string, n *store.Node) {
	if kind != 0 {
		d.list = append(d.list, Change{Kind: kind, Path: path, Ino: uint64(n.Ino), Type: posix.FileMode(n.Mode).Type()})
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
func (d *differ) kind(a, b *store.Node) (kind ChangeKind, err error) {
	isDir := store.TypeOf(a.Mode) == store.Dir
	same, err := d.sameXattrs(a.Ino)
	if err != nil {
		return 0, err
	}
	if !same || a.Mode != b.Mode || a.UID != b.UID || a.GID != b.GID || !isDir && a.Mtime != b.Mtime {
		kind = ChangeAttributes
	}
	if isDir {
		return kind, nil
	}
	if same, err = d.sameContent(a, b); err == nil && !same {
		kind |= ChangeContent
	}
	return kind, err
}

func (d *differ) sameXattrs(ino store.Ino) (bool, error) {
	a, err := d.states[0].rx.Xattrs(ino)
	if err != nil {
		return false, err
	}
	b, err := d.states[1].rx.Xattrs(ino)
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
			size, err := d.states[i].rx.ReadAt(*n, d.chunk[i][:store.ChunkSize], off)
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

// A state is one of the two states.
type state struct {
	rx    store.Rx
	all   *store.Differences
	found map[store.Ino]string // the paths of directories
}

// names returns the names that lead to an inode.
func (s *state) names(ino store.Ino) (list []store.EntryKey, err error) {
	for _, key := range s.all.Names[ino] {
		e, err := s.rx.Lookup(key.Dir, key.Name)
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
func (s *state) path(key store.EntryKey) (string, error) {
	dir, err := s.dir(key.Dir, 0)
	if err != nil || dir == "" {
		return key.Name, err
	}
	return dir + "/" + key.Name, nil
}

// dir returns the path of a directory, "" for the root. There are depth directories below it.
func (s *state) dir(ino store.Ino, depth int) (string, error) {
	if ino == store.Root {
		return "", nil
	}
	if path, ok := s.found[ino]; ok {
		return path, nil
	}
	names, err := s.names(ino)
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
