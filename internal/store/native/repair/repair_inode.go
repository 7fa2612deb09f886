package repair

import (
	"fmt"
	"maps"
	"slices"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/check"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// typeModes are the type bits of a mode.
var typeModes = [...]uint32{
	store.File: store.ModeRegular, store.Dir: store.ModeDir, store.Symlink: store.ModeSymlink, store.Char: store.ModeChar,
	store.Block: store.ModeBlock, store.Fifo: store.ModeFifo, store.Socket: store.ModeSocket,
}

// types gives each inode without a valid type the type that its name says. An inode that has
// entries becomes a directory.
func (r *repairer) types() error {
	types := make(map[store.Ino]store.Type)
	for i := range r.seen.Nodes() {
		if n := &r.seen.Nodes()[i]; store.TypeOf(n.Mode) == 0 {
			types[n.Ino] = 0
		}
	}
	if len(types) == 0 {
		return nil
	}
	err := r.rows(rowstore.EntryTable, func(row *sqlitefile.Row) error {
		var e rowstore.RawEntry
		if err := e.Decode(row); err != nil {
			return rowstore.UnlessDamaged(err)
		}
		if typ, ok := types[e.Ino]; ok && typ == 0 {
			types[e.Ino] = e.Type
		}
		if _, ok := types[e.Parent]; ok {
			types[e.Parent] = store.Dir
		}
		return nil
	})
	for _, ino := range slices.Sorted(maps.Keys(types)) {
		if err != nil {
			return err
		}
		n := r.seen.Find(ino).Node
		was := n.Mode
		n.Mode = n.Mode&^store.ModeType | typeModes[max(types[ino], store.File)]
		r.done(ino, "given the type of its name", "has no valid type: mode 0%o", was)
		err = r.t.Put(&n)
	}
	return err
}

// A lostNode is an inode that is not there, but something refers to it.
type lostNode struct {
	mode   uint32
	stored int64
	end    int64
}

// inodes makes the root, and the inodes that have content, attributes or entries but are not there.
func (r *repairer) inodes() error {
	lost := make(map[store.Ino]lostNode)
	missing := func(ino store.Ino) bool { return ino.Valid() && r.seen.Find(ino) == nil }
	err := r.rows(rowstore.DataTable, func(row *sqlitefile.Row) error {
		ino, chunk := store.Ino(row.Rowid()>>store.ChunkBits), row.Rowid()&(1<<store.ChunkBits-1)
		size, err := row.Size(rowstore.DataBytes)
		if err == nil && missing(ino) {
			stored := lost[ino].stored + size
			lost[ino] = lostNode{store.ModeRegular | 0o600, stored, chunk<<store.ChunkShift + size}
		}
		return err
	})
	refer := func(table int, mode uint32) {
		if err == nil {
			err = r.rows(table, func(row *sqlitefile.Row) error {
				v, err := row.Value(0)
				if ino := store.Ino(v.Int64()); err == nil && missing(ino) && lost[ino].end == 0 && store.TypeOf(lost[ino].mode) != store.Dir {
					lost[ino] = lostNode{mode: mode}
				}
				return err
			})
		}
	}
	refer(rowstore.EntryTable, store.ModeDir|0o700)
	refer(rowstore.XattrTable, store.ModeRegular|0o600)
	if err == nil && r.seen.Find(store.Root) == nil {
		lost[store.Root] = lostNode{mode: store.ModeDir | 0o755}
	}
	for _, ino := range slices.Sorted(maps.Keys(lost)) {
		if err != nil {
			return err
		}
		err = r.restore(ino, lost[ino])
	}
	return err
}

// restore makes an inode for content and attributes that have lost theirs, and that is no orphan,
// as the next reap would remove it (R2). The gaps between its chunks may have been holes or lost
// content; they read as zeros.
func (r *repairer) restore(ino store.Ino, l lostNode) error {
	n := store.Node{Ino: ino, Mode: l.mode, Size: l.end, Holes: l.end - l.stored, Mtime: r.now, Ctime: r.now, Atime: r.now}
	node, err := r.t.Table(rowstore.NodeTable)
	if err != nil {
		return err
	}
	orphan, err := r.t.Table(rowstore.OrphanTable)
	if err == nil {
		_, err = orphan.Delete(int64(ino))
	}
	if err != nil {
		return err
	}
	r.done(ino, fmt.Sprintf("made anew, with %d bytes of content and zeros up to byte %d", l.stored, l.end), "is not there, but has content, attributes or entries")
	return r.t.Fail(node.InsertRowid(int64(ino), r.t.Writer.Row.Node(&n)...))
}

// sizes puts sizes and holes right.
func (r *repairer) sizes() error {
	for i := range r.seen.Nodes() {
		n := &r.seen.Nodes()[i]
		typ := store.TypeOf(n.Mode)
		if n.Ino == store.Root && typ != store.Dir && n.Stored == 0 {
			r.done(n.Ino, "made one", "the root is not a directory")
			n.Mode = n.Mode&^store.ModeType | store.ModeDir
			n.Size, n.Holes = 0, 0
		} else {
			content := typ == store.File || typ == store.Symlink
			sized, unrelated := r.size(n, content && !n.Odd), r.device(n)
			if !sized && !unrelated {
				continue
			}
		}
		if err := r.t.Put(&n.Node); err != nil {
			return err
		}
	}
	return nil
}

// device reports whether an inode that is no device had the number of one.
func (r *repairer) device(n *check.Node) bool {
	if n.Rdev == 0 || n.IsDevice() {
		return false
	}
	r.done(n.Ino, "set to 0", "rdev is %d, but it is no device", int64(n.Rdev))
	n.Rdev = 0
	return true
}

// size puts the size and the holes of one inode right, if that can be done, and reports whether
// it did.
func (r *repairer) size(n *check.Node, content bool) bool {
	size, holes := n.Size, n.Holes
	possible := size >= 0 && size <= store.MaxSize && size-max(holes, 0) <= max(r.t.DatabaseSize(), store.ChunkSize)
	switch {
	case !content && n.Stored > 0 && possible && holes >= 0 && holes <= size:
		return false // Repair cannot know the right content (R3)
	case !content:
		size, holes = 0, 0
	case !possible || n.End > size:
		if agreed := n.Stored + holes; holes >= 0 && holes <= store.MaxSize && agreed >= n.End && agreed <= store.MaxSize {
			size = agreed
		} else if !possible {
			size, holes = n.End, n.End-n.Stored
		}
	case holes < 0 || holes > size:
		holes = 0
	}
	if content && n.Stored <= size {
		holes = min(holes, size-n.Stored)
	}
	if size == n.Size && holes == n.Holes {
		return false
	}
	r.done(n.Ino, fmt.Sprintf("size set to %d, with %d in holes", size, holes), "size is %d with %d in holes, but %d bytes up to %d are stored",
		n.Size, n.Holes, n.Stored, n.End)
	n.Size, n.Holes = size, holes
	return true
}

// links counts links. It does not report a count that only the steps before have changed.
func (r *repairer) links() error {
	for i := range r.seen.Nodes() {
		n := &r.seen.Nodes()[i]
		links := n.Links()
		if n.Nlink == links || !n.Ino.Valid() {
			continue
		}
		if r.miscounted[n.Ino] {
			r.done(n.Ino, "set to what was counted", "nlink is %d, counted %d", n.Nlink, links)
		}
		n.Nlink = links
		if err := r.t.Put(&n.Node); err != nil {
			return err
		}
	}
	return nil
}
