package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/invariant"
	"github.com/foliofs/folio/internal/race"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// TestObserved makes random changes by another connection, mixed with known ones, and checks that
// each change of the other connection is among those that Observed returns.
func TestObserved(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	seeds := uint64(8)
	if testing.Short() && !invariant.Enabled {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			newWatchedVolume(t, seed).run(60)
		})
	}
}

// A watchedVolume is a volume that is open twice: by the observer, and by another user.
type watchedVolume struct {
	t        *testing.T
	rng      *rand.Rand
	observer *Store
	other    *Store
	raw      *sqlitefile.DB // another connection, which changes rows without a store
	pages    map[uint32]store.Ino
	before   *watchedState
	alls     int
}

// A watchedState is everything that a volume has.
type watchedState struct {
	nodes    map[store.Ino]store.Node
	entries  map[store.EntryKey]store.Ino
	contents map[store.Ino]string
}

func newWatchedVolume(t *testing.T, seed uint64) *watchedVolume {
	v := &watchedVolume{t: t, rng: rand.New(rand.NewPCG(seed, 1))}
	path := filepath.Join(t.TempDir(), "v.folio")
	v.must(Create(context.Background(), path, new(CreateOptions), func(b *Builder) error {
		return b.Node(&store.Node{Ino: store.Root, Mode: store.ModeDir | 0o755, Nlink: 2})
	}))
	v.observer, v.other = v.open(path), v.open(path)
	var err error
	if v.raw, err = sqlitefile.Open(path, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.raw.Close() })
	v.must(v.observer.Update(bg, func(store.Tx) error { return nil })) // it is in WAL mode from now on
	v.must(v.observer.Observe())
	return v
}

func (v *watchedVolume) open(path string) *Store {
	s, err := Open(path, nil)
	v.must(err)
	v.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (v *watchedVolume) must(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
}

// run makes changes, in as many rounds, and checks each round.
func (v *watchedVolume) run(rounds int) {
	v.look()
	for round := range rounds {
		for range 1 + v.rng.IntN(12) {
			v.change()
		}
		v.check(round)
	}
	v.t.Logf("%d of %d", v.alls, rounds)
	if v.alls > rounds/2 {
		v.t.Errorf("%d of %d times anything may have changed", v.alls, rounds)
	}
}

// look reads the volume as it is, and the pages of all contents.
func (v *watchedVolume) look() {
	r, err := v.observer.Begin(bg)
	v.must(err)
	defer r.End()
	v.before = v.state(r)
	v.pages = make(map[uint32]store.Ino)
	for ino, n := range v.before.nodes {
		v.must(v.observer.ContentPages(r, ino, 0, n.Size, func(first uint32, count int) {
			for i := range count {
				v.pages[first+uint32(i)] = ino
			}
		}))
	}
}

func (v *watchedVolume) state(r store.Rx) *watchedState {
	s := &watchedState{make(map[store.Ino]store.Node), make(map[store.EntryKey]store.Ino), make(map[store.Ino]string)}
	db := r.(reader).Engine
	v.must(db.Guard(func() error {
		nodes, err := db.Table("node")
		v.must(err)
		for row, err := range nodes.All() {
			v.must(err)
			n, err := r.Node(store.Ino(row.Rowid()))
			v.must(err)
			s.nodes[n.Ino] = n
		}
		entries, err := db.Table("entry")
		v.must(err)
		for row, err := range entries.All() {
			v.must(err)
			var e rowstore.RawEntry
			v.must(e.Decode(&row))
			s.entries[store.EntryKey{Dir: e.Parent, Name: string(e.Name)}] = e.Ino
		}
		data, err := db.Table("data")
		v.must(err)
		for row, err := range data.All() {
			v.must(err)
			b, err := row.Bytes(rowstore.DataBytes)
			v.must(err)
			s.contents[store.Ino(row.Rowid()>>store.ChunkBits)] += string(b)
		}
		return nil
	}))
	return s
}

// check compares what has changed with what Observed returns.
func (v *watchedVolume) check(round int) {
	r, c, err := v.observer.Observed()
	v.must(err)
	now := v.state(r)
	r.End()
	if c.All {
		v.alls++
	}
	// An inode that has lost its last name is no one's: the entry says so. It is removed by
	// whichever connection comes first.
	for ino := range union(v.before.nodes, now.nodes) {
		if now.nodes[ino].Nlink > 0 && v.before.nodes[ino] != now.nodes[ino] && !v.isKnown(ino) && !c.All && !inSpans(c.Nodes, ino) {
			v.t.Errorf("round %d: inode %d has changed", round, ino)
		}
	}
	for key := range union(v.before.entries, now.entries) {
		if v.before.entries[key] != now.entries[key] && key.Name[0] != 'k' && !c.All && !inEntries(c.Entries, key) {
			v.t.Errorf("round %d: entry %v has changed from %d to %d", round, key, v.before.entries[key], now.entries[key])
		}
	}
	touched := make(map[store.Ino]bool)
	for _, pgno := range c.Pages {
		touched[v.pages[pgno]] = true
	}
	for ino := range union(v.before.contents, now.contents) {
		same := v.before.contents[ino] == now.contents[ino]
		if now.nodes[ino].Nlink > 0 && !same && !v.isKnown(ino) && !c.All && !touched[ino] && !inSpans(c.Contents, ino) && !inSpans(c.Nodes, ino) {
			v.t.Errorf("round %d: the content of inode %d has changed", round, ino)
		}
	}
	v.look()
}

func union[K comparable, V any](a, b map[K]V) map[K]V {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func inSpans(spans []store.InoSpan, ino store.Ino) bool {
	for _, s := range spans {
		if s.First <= ino && ino <= s.Last {
			return true
		}
	}
	return false
}

func inEntries(spans []store.EntrySpan, k store.EntryKey) bool {
	for _, s := range spans {
		if !k.Less(s.Low) && !s.High.Less(k) {
			return true
		}
	}
	return false
}

// isKnown reports whether only known changes are made to an inode: directory 2 and what is in it.
func (v *watchedVolume) isKnown(ino store.Ino) bool { return ino%2 == 1 && ino != store.Root }

// change makes one change.
func (v *watchedVolume) change() {
	name := fmt.Sprintf("%c%d-%0*d", 'a'+v.rng.IntN(4), v.rng.IntN(1000), v.rng.IntN(60), 0)
	content := bytes.Repeat([]byte(name), 1+v.rng.IntN(1<<v.rng.IntN(14)))
	unknown, known := v.other.Update, v.observer.UpdateKnown
	if v.rng.IntN(3) == 0 { // another user of the store that has the observer
		unknown, known = v.observer.Update, v.observer.BatchKnown
	}
	switch v.rng.IntN(12) {
	case 0, 1, 2:
		v.must(unknown(bg, func(tx store.Tx) error { return v.add(tx, 1, name, 0, content, 1+v.rng.IntN(40)) }))
	case 3, 4:
		v.must(known(bg, func(tx store.Tx) error { return v.add(tx, 1, "k"+name, 1, content, 1+v.rng.IntN(40)) }))
	case 5, 6:
		v.must(unknown(bg, func(tx store.Tx) error { return v.remove(tx, false, 1+v.rng.IntN(60)) }))
	case 7:
		v.must(known(bg, func(tx store.Tx) error { return v.remove(tx, true, 1+v.rng.IntN(60)) }))
	case 8:
		v.must(unknown(bg, func(tx store.Tx) error { return v.rewrite(tx, content) }))
	case 9:
		v.must(v.raw.Update(bg, v.rawChange))
	case 10:
		v.must(v.raw.Update(bg, v.rawDelete))
	case 11:
		err := v.raw.Checkpoint(bg, sqlitefile.CheckpointMode(v.rng.IntN(3)))
		if err != nil && !errors.Is(err, sqlitefile.ErrBusy) {
			v.t.Fatal(err)
		}
	}
}

// add adds files, whose inodes have the given parity.
func (v *watchedVolume) add(tx store.Tx, dir store.Ino, name string, parity store.Ino, content []byte, count int) error {
	for i := range count {
		n := store.Node{Mode: store.ModeRegular | 0o644, Nlink: 1}
		if err := tx.Insert(&n); err != nil {
			return err
		}
		if n.Ino%2 != parity { // it stays without a name
			if err := tx.Orphan(&n); err != nil {
				return err
			}
			continue
		}
		if err := tx.WriteAt(&n, append(content[:len(content)/count:len(content)/count], 'x'), 0); err != nil {
			return err
		}
		if err := tx.Put(&n); err != nil {
			return err
		}
		if err := tx.Link(dir, store.Entry{Name: fmt.Sprint(name, i), Ino: n.Ino, Type: store.File}); err != nil {
			return err
		}
	}
	return nil
}

// remove removes neighbouring files.
func (v *watchedVolume) remove(tx store.Tx, known bool, count int) error {
	var l store.Listing
	after := fmt.Sprintf("%c%d", 'a'+v.rng.IntN(4), v.rng.IntN(1000))
	if known {
		after = "k" + after
	}
	if err := tx.List(store.Root, after, count, &l); err != nil {
		return err
	}
	for _, e := range l.Entries() {
		if known != (e.Name[0] == 'k') {
			continue
		}
		n, err := tx.Node(e.Ino)
		if err != nil {
			return err
		}
		if err := tx.Unlink(store.Root, e.Name); err != nil {
			return err
		}
		if err := tx.Orphan(&n); err != nil {
			return err
		}
	}
	return nil
}

// any returns the inode of a file that another user may change.
func (v *watchedVolume) any() (n store.Node, ok bool) {
	for ino, n := range v.before.nodes {
		if ino != store.Root && !v.isKnown(ino) && n.Nlink > 0 {
			return n, true
		}
	}
	return n, false
}

func (v *watchedVolume) rewrite(tx store.Tx, content []byte) error {
	n, ok := v.any()
	if !ok {
		return nil
	}
	n, err := tx.Node(n.Ino)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = tx.WriteAt(&n, content, v.rng.Int64N(n.Size+1))
	}
	if err == nil {
		err = tx.Put(&n)
	}
	return err
}

// rawChange overwrites a part of a content, and leaves its inode as it is.
func (v *watchedVolume) rawChange(tx *sqlitefile.Tx) error {
	n, ok := v.any()
	if !ok {
		return nil
	}
	data, err := tx.Table("data")
	if err != nil {
		return err
	}
	row, ok, err := data.Get(store.DataID(n.Ino, 0))
	if err != nil || !ok {
		return err
	}
	size, err := row.Size(rowstore.DataBytes)
	if err != nil {
		return err
	}
	p := make([]byte, 1+v.rng.Int64N(min(size, 9)))
	_, _ = io.ReadFull(randomReader{v.rng}, p)
	return data.WriteAt(store.DataID(n.Ino, 0), rowstore.DataBytes, p, v.rng.Int64N(size-int64(len(p))+1))
}

type randomReader struct{ rng *rand.Rand }

func (r randomReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r.rng.Uint32())
	}
	return len(p), nil
}

// rawDelete deletes the entries of one directory by their key, as no Folio does.
func (v *watchedVolume) rawDelete(tx *sqlitefile.Tx) error {
	entry, err := tx.Table("entry")
	if err != nil || v.rng.IntN(4) > 0 {
		return err
	}
	_, err = entry.DeleteKey(int64(store.Root))
	return err
}
