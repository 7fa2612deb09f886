//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/store"
)

// kernelInodes tracks the inodes that the kernel caches, and the attributes last sent for each. It
// is to this mount what the table of nlookup is to other FUSE servers.
//
// Invariants:
//
//	T1  An inode is in the table from the first answer that names it until the kernel has sent
//	    FORGET for all its lookups.
//	T2  If the attrHash of an inode equals the hash of its row, then the kernel caches the
//	    attributes in the row and no others. If two answers differed, the hash is attrsMixed until
//	    the kernel has dropped the attributes.
//
// growth.go has the invariants about sizes.
type kernelInodes struct {
	fs     *fileSystem
	seed   maphash.Seed
	shards [inodeShards]inodeShard
	clock  atomic.Uint64 // counts the changes of extents
	parents
	unpins unpins
}

const inodeShards = 64

type inodeShard struct {
	mu      sync.Mutex // guards the fields below
	nodes   map[store.Ino]kernelInode
	stale   []store.Ino // inodes whose attributes the kernel must drop
	growths map[store.Ino]*growth
}

// A kernelInode is one inode that the kernel caches.
type kernelInode struct {
	lookups  uint64
	extent   extent // of a regular file
	attrHash attrHash
	rights   rights
	pinned   bool // it has lost its last name
	listed   bool // of a directory: the kernel may keep its names
}

// An attrHash is a hash of the attributes of an inode. Two different sets of attributes have the
// same hash once in four billion pairs.
type attrHash struct {
	content uint32 // size, holes and time of change
	other   uint32
	known   attrHashState
}

type attrHashState uint8

const (
	attrsNone  attrHashState = iota // the kernel has been told nothing, or was made to forget it
	attrsKnown                      // the kernel may keep these attributes and no other
	attrsMixed                      // the kernel may keep any
)

func (t *kernelInodes) init(m *fileSystem) {
	t.fs, t.seed = m, maphash.MakeSeed()
	for i := range t.shards {
		t.shards[i].nodes = make(map[store.Ino]kernelInode)
	}
	t.parents.init()
}

func (t *kernelInodes) shard(ino store.Ino) *inodeShard { return &t.shards[ino%inodeShards] }

// update calls fn with an inode, if the kernel knows it.
func (t *kernelInodes) update(ino store.Ino, fn func(sh *inodeShard, k *kernelInode)) {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if k, ok := sh.nodes[ino]; ok {
		fn(sh, &k)
		sh.nodes[ino] = k
	}
}

// attrHash returns the hash of the attributes of an inode.
func (t *kernelInodes) attrHash(n *store.Node) attrHash {
	content := maphash.Comparable(t.seed, [3]int64{n.Size, n.Holes, n.Mtime})
	other := maphash.Comparable(t.seed, [8]int64{int64(n.Mode), int64(n.Nlink), int64(n.UID), int64(n.GID), n.Ctime, n.Atime, int64(n.Rdev), int64(n.Ino)})
	return attrHash{uint32(content), uint32(other), attrsKnown}
}

// answer notes an answer with attributes, which counts as lookups (T1). It returns the size to
// tell, or false if the kernel must learn a larger size first.
func (t *kernelInodes) answer(n *store.Node, lookups uint64, to asker) (size int64, ok bool) {
	s := t.attrHash(n)
	sh := t.shard(n.Ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	k, known := sh.nodes[n.Ino]
	if !known && lookups == 0 && n.Ino != t.fs.root {
		return n.Size, true // the kernel has forgotten it meanwhile
	}
	k.lookups += lookups
	k.rights.answer(t.hashRights(n))
	size, ok = n.Size, true
	old := k.extent.isOld(to)
	switch {
	case !known:
		k.extent.size, old = n.Size, false
	case n.IsRegular():
		was := k.extent.size
		if size, ok = k.extent.tell(n.Size, to, sh.growths[n.Ino] != nil); k.extent.size > was {
			k.extent.since = t.clock.Add(1)
		}
	}
	if ok && !old && k.attrHash.tell(s) {
		t.markStale(sh, n.Ino)
	}
	sh.nodes[n.Ino] = k
	return size, ok
}

// tell notes that the kernel is told attributes, and reports whether it was told others before.
// Then another process has changed them, and which answer comes last is not known.
func (s *attrHash) tell(is attrHash) (differ bool) {
	switch s.known {
	case attrsNone:
		*s = is
	case attrsKnown:
		if differ = *s != is; differ {
			s.known = attrsMixed
		}
	}
	return differ
}

// change follows a committed change of the kernel's own, which it knows of (T2).
func (t *kernelInodes) change(s *transition) {
	t.update(s.ino, func(sh *inodeShard, k *kernelInode) {
		k.rights.change(s.rightsBefore, s.rightsAfter)
		switch {
		case k.attrHash.known != attrsKnown:
		case k.attrHash == s.attrsBefore:
			k.attrHash = s.attrsAfter
		default:
			k.attrHash.known = attrsMixed
			t.markStale(sh, s.ino)
		}
	})
}

// markStale lets the watcher make the kernel drop the attributes of an inode. Without an observer
// the kernel keeps them for a limited time at most, and nobody would take the inode from the list.
func (t *kernelInodes) markStale(sh *inodeShard, ino store.Ino) {
	if t.fs.observer == nil {
		return
	}
	sh.stale = append(sh.stale, ino)
	t.fs.wakeWatcher()
}

// takeStale returns the inodes that the kernel must forget, whatever changes say.
func (t *kernelInodes) takeStale() (list []store.Ino) {
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		list = append(list, sh.stale...)
		sh.stale = nil
		sh.mu.Unlock()
	}
	return list
}

// seen returns the attributes of an inode that the kernel was sent.
func (t *kernelInodes) seen(ino store.Ino) (s attrHash, ok bool) {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	k, ok := sh.nodes[ino]
	return k.attrHash, ok
}

// knows reports whether the kernel knows an inode.
func (t *kernelInodes) knows(ino store.Ino) bool {
	_, ok := t.seen(ino)
	return ok
}

// forgotten notes that the kernel is about to be made to forget the attributes of an inode.
func (t *kernelInodes) forgotten(ino store.Ino) {
	t.update(ino, func(_ *inodeShard, k *kernelInode) { k.attrHash = attrHash{} })
}

// pin pins an inode that loses its last name, if the kernel knows it, or that never had one.
func (t *kernelInodes) pin(ino store.Ino, unnamed bool) error {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	k, ok := sh.nodes[ino]
	if k.pinned || !ok && !unnamed {
		return nil
	}
	if err := t.fs.store.Pin(ino); err != nil {
		return err
	}
	k.pinned = true
	sh.nodes[ino] = k
	return nil
}

// forget takes back lookups of an inode.
func (t *kernelInodes) forget(ino store.Ino, lookups uint64) {
	if ino == t.fs.root {
		return
	}
	if pinned, gone := t.take(ino, lookups); gone {
		t.fs.names.forget(ino)
		t.fs.cookies.forget(ino)
		t.parents.forget(ino)
		if pinned {
			t.unpin(ino)
		}
	}
}

func (t *kernelInodes) take(ino store.Ino, lookups uint64) (pinned, gone bool) {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	k, ok := sh.nodes[ino]
	if !ok {
		return false, false
	}
	if k.lookups > lookups {
		k.lookups -= lookups
		sh.nodes[ino] = k
		return false, false
	}
	delete(sh.nodes, ino)
	return k.pinned, true
}

// within calls fn with the inodes of a span that the kernel knows.
func (t *kernelInodes) within(span store.InoSpan, fn func(ino store.Ino, s attrHash)) {
	if uint64(span.Last-span.First) < uint64(t.count()) {
		for ino := span.First; ino <= span.Last; ino++ {
			if s, ok := t.seen(ino); ok {
				fn(ino, s)
			}
		}
		return
	}
	type known struct {
		ino      store.Ino
		attrHash attrHash
	}
	var list []known
	for i := range t.shards {
		sh := &t.shards[i]
		list = list[:0]
		sh.mu.Lock()
		for ino, k := range sh.nodes {
			if span.First <= ino && ino <= span.Last {
				list = append(list, known{ino, k.attrHash})
			}
		}
		sh.mu.Unlock()
		for _, k := range list {
			fn(k.ino, k.attrHash)
		}
	}
}

// count returns how many inodes the kernel knows.
func (t *kernelInodes) count() (n int) {
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		n += len(sh.nodes)
		sh.mu.Unlock()
	}
	return n
}

// unpinAll ends all pins when the kernel is gone.
func (t *kernelInodes) unpinAll() {
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		for ino, k := range sh.nodes {
			if k.pinned {
				t.fs.store.Unpin(ino)
			}
		}
		clear(sh.nodes)
		sh.mu.Unlock()
	}
	t.unpins.mu.Lock()
	defer t.unpins.mu.Unlock()
	for _, ino := range t.unpins.list {
		t.fs.store.Unpin(ino)
	}
	t.unpins.list = nil
}

// unpins are inodes that the kernel has forgotten, and that are pinned still. They are unpinned
// together, so that those without a name are removed together.
type unpins struct {
	mu    sync.Mutex // guards the fields below
	list  []store.Ino
	since time.Time // when the first of them came
}

// How many inodes wait to be unpinned, and how long.
const (
	mostUnpins = 1 << 10
	unpinAfter = 20 * time.Millisecond
)

// unpin lets an inode be unpinned soon.
func (t *kernelInodes) unpin(ino store.Ino) {
	t.unpins.mu.Lock()
	defer t.unpins.mu.Unlock()
	t.unpins.list = append(t.unpins.list, ino)
	switch len(t.unpins.list) {
	case 1:
		t.unpins.since = time.Now()
		t.fs.wakeWatcher()
	case mostUnpins:
		t.fs.wakeWatcher()
	}
}

// take returns the inodes if it is time to unpin them, and empties the list.
func (u *unpins) take() (list []store.Ino) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.list) < mostUnpins && time.Since(u.since) < unpinAfter {
		return nil
	}
	list, u.list = u.list, nil
	return list
}

// listed notes that the kernel is told the names of a directory.
func (t *kernelInodes) listed(dir store.Ino) {
	sh := t.shard(dir)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if k, ok := sh.nodes[dir]; (ok || dir == t.fs.root) && !k.listed {
		k.listed = true
		sh.nodes[dir] = k
		t.parents.list(dir)
	}
}

// isListed reports whether the kernel may keep the names of a directory.
func (t *kernelInodes) isListed(dir store.Ino) bool {
	sh := t.shard(dir)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.nodes[dir].listed
}
