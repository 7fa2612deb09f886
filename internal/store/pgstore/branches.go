package pgstore

import (
	"slices"

	"github.com/foliofs/folio/internal/store"
)

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
		r.known.learn(store.EntryKey{Dir: dir, Name: e.Name}, e)
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

// takeBranch takes what was read.
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
		r.known.learnNode(n.ino, &n.raw)
	}
	for ino, content := range b.contents {
		r.files.put(ino, content)
	}
}
