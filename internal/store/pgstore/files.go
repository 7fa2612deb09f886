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
func (f *files) ahead(n *store.Node, k *known) (ids []int64) {
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

// isSmall reports whether the content of a file is one row.
func isSmall(n *store.Node) bool {
	return n.IsRegular() && n.Size > 0 && n.Size <= store.ChunkSize && n.Holes == 0
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
// ahead what comes next in a walk.
func (r *rx) List(dir store.Ino, after string, max int, l *store.Listing) error {
	r.known.makeRoom()
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
	if r.need == store.NeedContent {
		r.s.largeFiles.Store(!isSmall(&n))
	}
	if off != 0 || int64(len(p)) < n.Size || !isSmall(&n) || r.files.next == nil && r.files.size == 0 {
		return r.reader.ReadAt(n, p, off)
	}
	follows := r.files.follows(n.Ino)
	content, ok := r.files.take(n.Ino)
	if !ok && follows {
		if err := r.readFiles(r.files.ahead(&n, &r.known)); err != nil {
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
