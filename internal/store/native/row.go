package native

import "github.com/foliofs/folio/internal/store"

// A rowRoom is memory for the values of one row that is about to be written. Numbers go by their
// addresses, so that none of them is allocated.
type rowRoom struct {
	numbers [nodeColumns]int64
	values  [nodeColumns]any
}

func (r *rowRoom) set(i int, v int64) {
	r.numbers[i] = v
	r.values[i] = &r.numbers[i]
}

// node returns the columns of an inode. Like those of the other methods they are overwritten by the
// next call.
func (r *rowRoom) node(n *store.Node) []any {
	r.set(nodeIno, int64(n.Ino))
	r.set(nodeMode, int64(n.Mode))
	r.set(nodeNlink, int64(n.Nlink))
	r.set(nodeUID, int64(n.UID))
	r.set(nodeGID, int64(n.GID))
	r.set(nodeSize, n.Size)
	r.set(nodeHoles, n.Holes)
	r.set(nodeMtime, n.Mtime)
	r.set(nodeCtime, n.Ctime)
	r.set(nodeAtime, n.Atime)
	r.set(nodeRdev, int64(n.Rdev))
	return r.values[:]
}

// entry returns the columns of an entry.
func (r *rowRoom) entry(dir store.Ino, e *store.Entry) []any {
	r.set(entryParent, int64(dir))
	r.values[entryName] = e.Name
	r.set(entryIno, int64(e.Ino))
	r.set(entryType, int64(e.Type))
	return r.values[:entryColumns]
}

// origin returns the columns of a row of table origin.
func (r *rowRoom) origin(ino store.Ino, o origin) []any {
	r.set(originIno, int64(ino))
	r.set(originBase, int64(o.base))
	r.set(originChunks, o.chunks)
	return r.values[:originColumns]
}

// data returns the columns of a data row. The caller must pass the id separately.
func (r *rowRoom) data(p []byte) []any {
	r.values[0], r.values[dataBytes] = nil, p
	return r.values[:dataBytes+1]
}
