package pgstore

import (
	"io"
	"slices"

	"github.com/foliofs/folio/internal/store"
)

// files are the small files that a read transaction has listed. A caller that reads one after the
// other, as a copy of a tree does, gets those that follow with the same trip.
type files struct {
	next     map[store.Ino]store.Ino // the file that follows in the same directory
	contents map[store.Ino][]byte    // that were read ahead
	size     int                     // bytes in contents
	last     store.Ino               // was read last
	streak   int                     // how many files were read in a row
}

const (
	maxAheadFiles = 64      // in one trip
	maxAheadBytes = 1 << 20 // in one trip
	maxSteps      = 8       // that a file lies behind the one before it, in a row
	longStreak    = 8       // after which the first file of a directory counts as the next one
	maxContents   = 16 << 20
)

// listed notes the files among entries, in their order.
func (f *files) listed(items []store.Item) {
	if f.next == nil || len(f.next) > maxKnown {
		f.next = make(map[store.Ino]store.Ino, len(items))
	}
	before := store.Ino(0)
	for _, item := range items {
		if item.Type != store.File {
			continue
		}
		if before != 0 {
			f.next[before] = item.Ino
		}
		before = item.Ino
	}
	if before != 0 {
		f.next[before] = 0
	}
}

// follows notes that a file is read, and reports whether those before it make it likely that the
// next ones are read, too.
func (f *files) follows(ino store.Ino) bool {
	at := f.last
	f.last = ino
	for range maxSteps {
		if at = f.next[at]; at == ino {
			f.streak++
			return true
		}
		if at == 0 {
			break
		}
	}
	if _, ok := f.next[ino]; !ok || f.streak < longStreak {
		f.streak = 0
		return false
	}
	return true
}

// ahead returns a file and those that follow it, as far as they are small and have no holes. Files
// with several names may follow each other in a circle.
func (f *files) ahead(n *store.Node, k *readCache) (ids []int64) {
	size, ino := int64(0), n.Ino
	for steps := 0; ino != 0 && steps < 2*maxAheadFiles && len(ids) < maxAheadFiles; steps, ino = steps+1, f.next[ino] {
		next, ok := k.nodes[ino]
		if ino == n.Ino {
			next, ok = *n, true
		}
		id := store.DataID(ino, 0)
		if !ok || !isSmall(&next) || slices.Contains(ids, id) {
			continue
		}
		if size += next.Size; size > maxAheadBytes && len(ids) > 0 {
			break
		}
		ids = append(ids, id)
	}
	return ids
}

// isSmall reports whether the content of a file or a symbolic link is one row.
func isSmall(n *store.Node) bool {
	return (n.IsRegular() || store.TypeOf(n.Mode) == store.Symlink) && n.Size > 0 && n.Size <= store.ChunkSize && n.Holes == 0
}

// put keeps a content.
func (f *files) put(ino store.Ino, content []byte) {
	if f.contents == nil || f.size > maxContents {
		f.contents, f.size = make(map[store.Ino][]byte), 0
	}
	if _, ok := f.contents[ino]; !ok {
		f.contents[ino] = content
		f.size += len(content)
	}
}

// take returns a content, and forgets it: hardly any caller reads a file twice.
func (f *files) take(ino store.Ino) ([]byte, bool) {
	content, ok := f.contents[ino]
	if ok {
		delete(f.contents, ino)
		f.size -= len(content)
	}
	return content, ok
}

// List adds the entries of a directory to l. If the caller has read all files so far, it also reads
// ahead the next directories of a walk.
func (r *rx) List(dir store.Ino, after string, max int, l *store.Listing) error {
	r.cache.makeRoom()
	before := len(l.Items)
	done := false
	var err error
	if r.files.streak >= longStreak {
		done, err = r.listAhead(dir, after, max, l)
	}
	if err == nil && !done {
		err = r.reader.List(dir, after, max, l)
		if after == "" && max <= 0 {
			r.branches.listed(dir, l.Items[before:])
		}
	}
	if err == nil {
		r.files.listed(l.Items[before:])
	}
	return err
}

// ReadAt fills p from the content of n.
func (r *rx) ReadAt(n store.Node, p []byte, off int64) (int, error) {
	if r.need == store.NeedContent || r.single {
		r.s.largeFiles.Store(!isSmall(&n))
	}
	if off != 0 || int64(len(p)) < n.Size || !isSmall(&n) || r.files.next == nil && r.files.size == 0 {
		return r.reader.ReadAt(n, p, off)
	}
	follows := r.files.follows(n.Ino)
	content, ok := r.files.take(n.Ino)
	if !ok && follows {
		if err := r.readFiles(r.files.ahead(&n, &r.cache)); err != nil {
			return 0, err
		}
		content, ok = r.files.take(n.Ino)
	}
	if !ok || int64(len(content)) != n.Size {
		return r.reader.ReadAt(n, p, off)
	}
	if copy(p, content) < len(p) {
		return len(content), io.EOF
	}
	return len(content), nil
}

// readFiles reads the contents of small files ahead.
func (r *rx) readFiles(ids []int64) error {
	return r.ask(step{statement: selectFiles, args: []any{ids}, row: func(v [][]byte) {
		r.files.put(store.Ino(number(v[0])>>store.ChunkBits), slices.Clone(v[1]))
	}})
}

// branches are the directories that a transaction reads ahead of a caller that copies a tree. While
// the caller handles one branch, the server reads the next.
type branches struct {
	lists map[store.Ino]*store.Listing // that are whole, and that the caller has not asked for
	next  []store.Ino                  // directories that come next in a walk
	sent  *branch                      // that the server reads; nil if there is none
}

const (
	maxBranchLists = 1000 // that wait before no further branch is read
	maxBranchNext  = 4000 // directories that are remembered as next
)

// listed notes that the caller has the entries of a directory.
func (h *branches) listed(dir store.Ino, items []store.Item) {
	h.replace([]store.Ino{dir}, subdirs(items))
}

// replace puts directories that come next in the place of those before them in a walk.
func (h *branches) replace(before, next []store.Ino) {
	later := slices.DeleteFunc(h.next, func(dir store.Ino) bool { return slices.Contains(before, dir) })
	h.next = append(next, later...)
	h.next = h.next[:min(len(h.next), maxBranchNext)]
}

// listAhead adds the entries of a directory to l, and reports whether it could.
func (r *rx) listAhead(dir store.Ino, after string, most int, l *store.Listing) (bool, error) {
	if after != "" || most > 0 || !dir.Valid() {
		return false, nil
	}
	if r.branches.lists[dir] == nil && r.branches.sent != nil {
		if err := r.takeSent(); err != nil {
			return false, err
		}
	}
	if r.branches.lists[dir] == nil {
		b := newBranch(dir)
		if err := r.ask(b.step()); err != nil {
			return false, err
		}
		r.takeBranch(b)
	}
	list := r.branches.lists[dir]
	if list == nil {
		return false, nil
	}
	delete(r.branches.lists, dir)
	for _, e := range list.Entries() {
		l.Add([]byte(e.Name), e.Ino, e.Type)
		r.cache.learn(store.EntryKey{Dir: dir, Name: e.Name}, e)
	}
	return true, r.sendBranch()
}

// takeSent waits for the branch that was sent for, and takes it.
func (r *rx) takeSent() error {
	if err := r.wait(); err != nil {
		return err
	}
	r.takeBranch(r.branches.sent)
	r.branches.sent = nil
	return nil
}

// sendBranch begins to read the branch that comes next, unless the server still reads one.
func (r *rx) sendBranch() error {
	h := &r.branches
	if h.sent != nil && r.arrived() {
		if err := r.takeSent(); err != nil {
			return err
		}
	}
	if h.sent != nil || len(h.next) == 0 || len(h.lists) > maxBranchLists || r.files.size > maxContents/2 {
		return nil
	}
	h.sent = newBranch(h.take()...)
	return r.send(h.sent.step())
}

// take takes the directories that come next, each once: in a damaged volume, one can be in several
// others.
func (h *branches) take() (dirs []store.Ino) {
	for len(h.next) > 0 && len(dirs) < maxBranchDirs {
		if !slices.Contains(dirs, h.next[0]) {
			dirs = append(dirs, h.next[0])
		}
		h.next = h.next[1:]
	}
	return dirs
}

// takeBranch takes the directories that were read.
func (r *rx) takeBranch(b *branch) {
	if r.branches.lists == nil || len(r.branches.lists) > 2*maxBranchLists {
		r.branches.lists = make(map[store.Ino]*store.Listing)
	}
	for _, dir := range b.dirs {
		if b.has(dir) {
			r.branches.lists[dir] = b.lists[dir]
		}
	}
	r.branches.replace(b.dirs, b.next())
	for _, n := range b.nodes {
		r.cache.learnNode(n.ino, &n.raw)
	}
	for ino, content := range b.contents {
		r.files.put(ino, content)
	}
}

// A branch is the part of a tree that one trip reads: directories that a walk comes to one after
// the other, with all their entries and inodes, and the contents of small files. The server leaves
// out directories at the end if the contents would be too many; the first one is always there.
type branch struct {
	dirs     []store.Ino // that were asked for
	rows     int
	last     store.Ino // the directory of the last row
	lists    map[store.Ino]*store.Listing
	nodes    []branchNode
	contents map[store.Ino][]byte
	damaged  bool // another statement must say what is wrong
}

type branchNode struct {
	ino store.Ino
	raw store.NodeRow
}

const (
	maxBranchDirs    = 32
	maxBranchEntries = 1000 // of one directory
	maxBranchRows    = 4000
	maxBranchBytes   = 4 << 20 // of contents
)

func newBranch(dirs ...store.Ino) *branch {
	return &branch{dirs: dirs, lists: make(map[store.Ino]*store.Listing), contents: make(map[store.Ino][]byte)}
}

func (b *branch) step() step {
	dirs := make([]int64, len(b.dirs))
	for i, dir := range b.dirs {
		dirs[i] = int64(dir)
	}
	return step{
		statement: selectBranch, row: b.row,
		args: []any{dirs, int64(maxBranchEntries), int64(maxBranchRows), int64(maxBranchBytes)},
	}
}

// row takes an entry: its directory, its name, inode and type, the columns of the inode, and a
// content or NULL. An empty directory has one row, without a name.
func (b *branch) row(v [][]byte) {
	dir := store.Ino(number(v[0]))
	b.rows, b.last = b.rows+1, dir
	if b.lists[dir] == nil {
		b.lists[dir] = new(store.Listing)
	}
	if v[1] == nil {
		return
	}
	ino, typ := store.Ino(number(v[2])), number(v[3])
	if b.damaged = b.damaged || !ino.Valid() || !store.ValidType(typ) || !store.ValidName(v[1]); b.damaged {
		return
	}
	b.lists[dir].Add(v[1], ino, store.Type(typ))
	if v[4] != nil {
		b.nodes = append(b.nodes, branchNode{ino, nodeRow(v[4:])})
	}
	if v[14] != nil {
		b.contents[ino] = slices.Clone(v[14])
	}
}

// isLong reports whether a directory has more entries than a branch takes.
func (b *branch) isLong(dir store.Ino) bool {
	list := b.lists[dir]
	return list != nil && len(list.Items) >= maxBranchEntries
}

// has reports whether all entries of a directory are there.
func (b *branch) has(dir store.Ino) bool {
	return !b.damaged && b.lists[dir] != nil && !b.isLong(dir) && (b.rows < maxBranchRows || dir != b.last)
}

// next returns the directories that a walk comes to next, in order: those in the directories that
// are there, and those that were left out. One that is too long is left to another statement.
func (b *branch) next() (dirs []store.Ino) {
	for i, dir := range b.dirs {
		switch {
		case b.has(dir):
			dirs = append(dirs, subdirs(b.lists[dir].Items)...)
		case i > 0 && !b.damaged && !b.isLong(dir):
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// subdirs returns the directories among entries.
func subdirs(items []store.Item) (list []store.Ino) {
	for _, item := range items {
		if item.Type == store.Dir {
			list = append(list, item.Ino)
		}
	}
	return list
}
