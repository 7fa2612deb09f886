package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/store"
)

// A model is the expected state of a store under test, in memory, while random transactions change
// both.
type model struct {
	nodes   map[store.Ino]*modelNode
	entries map[store.Ino]map[string]store.Entry // by directory
	given   map[store.Ino]bool                   // every number that a committed inode ever had
}

// A modelNode is an inode with its content.
type modelNode struct {
	store.Node
	content []byte
	xattrs  map[string]string
	rows    map[int64]int64 // the length of each row of the content, by chunk; nil if not known
}

func (m *model) clone() *model {
	c := &model{make(map[store.Ino]*modelNode), make(map[store.Ino]map[string]store.Entry), maps.Clone(m.given)}
	for ino, n := range m.nodes {
		c.nodes[ino] = &modelNode{n.Node, slices.Clone(n.content), maps.Clone(n.xattrs), maps.Clone(n.rows)}
	}
	for dir, list := range m.entries {
		c.entries[dir] = maps.Clone(list)
	}
	return c
}

// pick returns a random inode of a type, nil if there is none.
func (m *model) pick(r *rand.Rand, typ store.Type) *modelNode {
	var list []store.Ino
	for ino, n := range m.nodes {
		if store.TypeOf(n.Mode) == typ && n.Nlink > 0 {
			list = append(list, ino)
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	return m.nodes[list[r.IntN(len(list))]]
}

// A session changes a model and a transaction alike.
type session struct {
	*model
	tx     store.Tx
	r      *rand.Rand
	clones bool // files are cloned, and holes punched
}

var errAbort = errors.New("rolled back")

// step makes one random change.
func (s *session) step() error {
	if s.clones && s.r.IntN(3) == 0 {
		if s.r.IntN(2) == 0 {
			return s.punch()
		}
		return s.clone()
	}
	switch s.r.IntN(12) {
	case 0, 1:
		return s.create(store.ModeRegular|0o644, 1)
	case 2:
		return s.create(store.ModeDir|0o755, 2)
	case 3:
		return s.link()
	case 4:
		return s.unlink()
	case 5, 6, 7, 8:
		return s.write()
	case 9:
		return s.truncate()
	case 10:
		return s.setXattr()
	}
	return s.put()
}

func (s *session) name() string {
	if s.r.IntN(20) == 0 {
		return strings.Repeat("n", 1+s.r.IntN(store.MaxName))
	}
	return fmt.Sprint("name", s.r.IntN(40))
}

func (s *session) create(mode, nlink uint32) error {
	dir := s.pick(s.r, store.Dir)
	name := s.name()
	if _, ok := s.entries[dir.Ino][name]; ok {
		return nil
	}
	n := store.Node{Mode: mode, Nlink: nlink, Mtime: s.r.Int64(), UID: s.r.Uint32()}
	if err := s.tx.Insert(&n); err != nil {
		return err
	}
	if nlink == 1 && s.r.IntN(3) == 0 { // it gets its name in two steps
		if err := s.tx.Orphan(&n); err != nil {
			return err
		}
		n.Nlink = nlink
		if err := s.tx.Adopt(&n); err != nil {
			return err
		}
	}
	if s.nodes[n.Ino] != nil || s.given[n.Ino] {
		return fmt.Errorf("inode %d was given before", n.Ino)
	}
	s.nodes[n.Ino] = &modelNode{Node: n, xattrs: make(map[string]string), rows: make(map[int64]int64)}
	s.entries[n.Ino] = make(map[string]store.Entry)
	if nlink == 2 {
		dir.Nlink++
		if err := s.tx.Put(&dir.Node); err != nil {
			return err
		}
	}
	return s.setEntry(dir, store.Entry{Name: name, Ino: n.Ino, Type: store.TypeOf(mode)})
}

func (s *session) setEntry(dir *modelNode, e store.Entry) error {
	s.entries[dir.Ino][e.Name] = e
	return s.tx.Link(dir.Ino, e)
}

// link gives a file another name.
func (s *session) link() error {
	n, dir, name := s.pick(s.r, store.File), s.pick(s.r, store.Dir), s.name()
	if _, ok := s.entries[dir.Ino][name]; ok || n == nil {
		return nil
	}
	n.Nlink++
	return errors.Join(s.tx.Put(&n.Node), s.setEntry(dir, store.Entry{Name: name, Ino: n.Ino, Type: store.File}))
}

// unlink takes a name from a file.
func (s *session) unlink() error {
	dir := s.pick(s.r, store.Dir)
	for _, name := range slices.Sorted(maps.Keys(s.entries[dir.Ino])) {
		if s.entries[dir.Ino][name].Type != store.File {
			continue
		}
		return s.remove(dir.Ino, name)
	}
	return nil
}

func (s *session) remove(dir store.Ino, name string) error {
	n := s.nodes[s.entries[dir][name].Ino]
	delete(s.entries[dir], name)
	if err := s.tx.Unlink(dir, name); err != nil {
		return err
	}
	if n.Nlink--; n.Nlink > 0 {
		return s.tx.Put(&n.Node)
	}
	return s.tx.Orphan(&n.Node)
}

// size returns how much to write, or where: often near the edges of chunks.
func (s *session) size() int64 {
	switch s.r.IntN(4) {
	case 0:
		return s.r.Int64N(200)
	case 1:
		if s.r.IntN(8) == 0 {
			return s.r.Int64N(20 * store.ChunkSize)
		}
		return s.r.Int64N(3 * store.ChunkSize)
	}
	return max(0, s.r.Int64N(4)*store.ChunkSize+s.r.Int64N(5)-2)
}

func (s *session) write() error {
	n := s.pick(s.r, store.File)
	if n == nil {
		return nil
	}
	off, p := s.size(), random.Bytes(s.r, int(s.size()))
	if len(p) > 0 {
		n.content = append(n.content, make([]byte, max(0, int(off)+len(p)-len(n.content)))...)
		copy(n.content[off:], p)
		if n.rows != nil {
			n.wrote(off, int64(len(p)))
		}
	}
	if err := s.tx.WriteAt(&n.Node, p, off); err != nil {
		return err
	}
	return s.resized(n)
}

func (s *session) truncate() error {
	n := s.pick(s.r, store.File)
	if n == nil {
		return nil
	}
	size := s.size()
	n.content = append(n.content, make([]byte, max(0, int(size)-len(n.content)))...)[:size]
	n.cut(size)
	if err := s.tx.Truncate(&n.Node, size); err != nil {
		return err
	}
	return s.resized(n)
}

func (s *session) resized(n *modelNode) error {
	if n.Size != int64(len(n.content)) || n.Holes < 0 || n.Holes > n.Size || n.rows != nil && n.Holes != n.holes() {
		return fmt.Errorf("inode %d has size %d and holes %d, want %d and %d", n.Ino, n.Size, n.Holes, len(n.content), n.holes())
	}
	return s.tx.Put(&n.Node)
}

func (s *session) setXattr() error {
	n, name := s.pick(s.r, store.Dir), fmt.Sprint("user.", s.r.IntN(3))
	if _, ok := n.xattrs[name]; ok && s.r.IntN(2) == 0 {
		delete(n.xattrs, name)
		return s.tx.SetXattr(n.Ino, name, nil)
	}
	value := strings.Repeat("v", s.r.IntN(6000))
	n.xattrs[name] = value
	return s.tx.SetXattr(n.Ino, name, []byte(value))
}

func (s *session) put() error {
	n := s.pick(s.r, store.Dir)
	n.Atime, n.GID = s.r.Int64()-s.r.Int64(), s.r.Uint32()
	return s.tx.Put(&n.Node)
}

// compare compares the rows that rx reads with the model. Orphans may be gone.
func (m *model) compare(rx store.Rx) error {
	for ino, n := range m.nodes {
		got, err := rx.Node(ino)
		if n.Nlink == 0 && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || got != n.Node {
			return fmt.Errorf("inode %d: %+v, %w; want %+v", ino, got, err, n.Node)
		}
		if err := m.compareContent(rx, n); err != nil {
			return err
		}
		if store.TypeOf(n.Mode) == store.File {
			if err := compareHoles(rx, n.Node, n.content); err != nil {
				return err
			}
		}
		want := slices.SortedFunc(maps.Values(m.entries[ino]), func(a, b store.Entry) int { return strings.Compare(a.Name, b.Name) })
		var l store.Listing
		if err := rx.List(ino, "", 0, &l); err != nil || !slices.Equal(l.Entries(), want) {
			return fmt.Errorf("inode %d: %d entries, %w; want %d", ino, len(l.Items), err, len(want))
		}
	}
	return nil
}

func (m *model) compareContent(rx store.Rx, n *modelNode) error {
	got := bytes.Repeat([]byte{0xaa}, len(n.content))
	if len(got) > 0 {
		if _, err := rx.ReadAt(n.Node, got, 0); err != nil || !bytes.Equal(got, n.content) {
			return fmt.Errorf("inode %d: %d bytes, or others than those that were written: %w", n.Ino, len(got), err)
		}
	}
	list, err := rx.Xattrs(n.Ino)
	if err != nil || len(list) != len(n.xattrs) {
		return fmt.Errorf("inode %d: %d attributes, %w; want %d", n.Ino, len(list), err, len(n.xattrs))
	}
	for _, x := range list {
		if n.xattrs[x.Name] != string(x.Value) {
			return fmt.Errorf("inode %d: another value of %s", n.Ino, x.Name)
		}
	}
	return nil
}

// loadEmpty makes the model of a store that has only the root.
func loadEmpty(s store.Store) (*model, error) {
	m := &model{make(map[store.Ino]*modelNode), make(map[store.Ino]map[string]store.Entry), make(map[store.Ino]bool)}
	rx, err := s.Begin(context.Background())
	if err != nil {
		return nil, err
	}
	defer rx.End()
	root, err := rx.Node(store.Root)
	m.nodes[store.Root] = &modelNode{Node: root, xattrs: make(map[string]string)}
	m.entries[store.Root] = make(map[string]store.Entry)
	return m, err
}

// testModel changes a volume at random, through several Stores in turn, and looks at it inside and
// outside its transactions. It returns the model of the volume at the end.
func testModel(t *testing.T, clones bool, stores ...store.Store) *model {
	r := random.New(t)
	m, err := loadEmpty(stores[0])
	must.Do(t, err)
	const transactions = 60
	for i := range transactions {
		s := stores[i%len(stores)]
		next := m.clone()
		abort := r.IntN(8) == 0
		err := s.Update(context.Background(), func(tx store.Tx) error {
			session := &session{next, tx, r, clones}
			for range 1 + r.IntN(10) {
				if err := session.step(); err != nil {
					return err
				}
			}
			if err := next.compare(tx); err != nil {
				return fmt.Errorf("inside: %w", err)
			}
			if abort {
				return errAbort
			}
			return nil
		})
		if abort != errors.Is(err, errAbort) || !abort && err != nil {
			t.Fatal(err)
		}
		if !abort {
			m = next
			for ino := range m.nodes {
				m.given[ino] = true
			}
		}
		rx := Begin(t, stores[(i+1)%len(stores)])
		must.Do(t, m.compare(rx))
		if i%16 == 0 {
			WantClean(t, s)
		}
	}
	WantClean(t, stores[0])
	return m
}
