package rowstore

import "github.com/foliofs/folio/internal/store"

// A rowBuffer is memory for the values of one row that is about to be written. Numbers go by their
// addresses, so that none of them is allocated.
type rowBuffer struct {
	numbers [NodeColumns]int64
	values  [NodeColumns]any
}

func (r *rowBuffer) set(i int, v int64) {
	r.numbers[i] = v
	r.values[i] = &r.numbers[i]
}

// Node returns the columns of an inode. Like the results of the other methods they are overwritten
// by the next call.
func (r *rowBuffer) Node(n *store.Node) []any {
	r.set(nodeIno, int64(n.Ino))
	r.set(NodeMode, int64(n.Mode))
	r.set(NodeNlink, int64(n.Nlink))
	r.set(nodeUID, int64(n.UID))
	r.set(nodeGID, int64(n.GID))
	r.set(NodeSize, n.Size)
	r.set(nodeHoles, n.Holes)
	r.set(nodeMtime, n.Mtime)
	r.set(nodeCtime, n.Ctime)
	r.set(NodeAtime, n.Atime)
	r.set(nodeRdev, int64(n.Rdev))
	return r.values[:]
}

// entry returns the columns of an entry.
func (r *rowBuffer) entry(dir store.Ino, e *store.Entry) []any {
	r.set(EntryParent, int64(dir))
	r.values[EntryName] = e.Name
	r.set(EntryIno, int64(e.Ino))
	r.set(EntryType, int64(e.Type))
	return r.values[:EntryColumns]
}

// Origin returns the columns of a row of table origin.
func (r *rowBuffer) Origin(ino store.Ino, o Origin) []any {
	r.set(originIno, int64(ino))
	r.set(originBase, int64(o.Base))
	r.set(originChunks, o.Chunks)
	return r.values[:originColumns]
}

// Data returns the columns of a data row. The caller must pass the id separately.
func (r *rowBuffer) Data(p []byte) []any {
	r.values[0], r.values[DataBytes] = nil, p
	return r.values[:DataBytes+1]
}
