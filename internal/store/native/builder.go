package native

import (
	"context"
	"io"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// CreateOptions say how a volume is made.
type CreateOptions struct {
	Replace  bool
	PageSize int // 0 means DefaultPageSize
}

// DefaultPageSize is the page size with which docs/reference/format.md found volumes fastest.
const DefaultPageSize = 4096

// A Builder writes the rows of a new volume, each table in the order of its keys, in turn. It
// checks nothing: the caller must keep names, inodes and contents in agreement. Not safe for
// concurrent use.
type Builder struct {
	node, entry, data, xattr *sqlitefile.TableBuilder

	chunk [store.ChunkSize]byte // room for Content
}

// Create makes a volume at path of the rows that fn writes, complete or not at all.
func Create(ctx context.Context, path string, o *CreateOptions, fn func(b *Builder) error) error {
	options := &sqlitefile.BuildOptions{
		PageSize:      o.PageSize,
		ApplicationID: store.ApplicationID,
		UserVersion:   store.SchemaVersion,
		Replace:       o.Replace,
	}
	if options.PageSize == 0 {
		options.PageSize = DefaultPageSize
	}
	return sqlitefile.Build(ctx, path, options, func(db *sqlitefile.Builder) error {
		b, err := newBuilder(db)
		if err != nil {
			return err
		}
		return fn(b)
	})
}

func newBuilder(db *sqlitefile.Builder) (*Builder, error) {
	for _, sql := range store.Schema {
		if err := db.Create(sql); err != nil {
			return nil, err
		}
	}
	b := new(Builder)
	for name, t := range map[string]**sqlitefile.TableBuilder{"node": &b.node, "entry": &b.entry, "data": &b.data, "xattr": &b.xattr} {
		var err error
		if *t, err = db.Table(name); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Node writes an inode, in ascending order.
func (b *Builder) Node(n *store.Node) error {
	return b.node.Append(int64(n.Ino), int64(n.Ino), n.Mode, n.Nlink, n.UID, n.GID, n.Size, n.Holes,
		n.Mtime, n.Ctime, n.Atime, int64(n.Rdev))
}

// Entry writes an entry, in ascending order of directories and names.
func (b *Builder) Entry(dir store.Ino, e store.Entry) error {
	return b.entry.AppendKey(int64(dir), e.Name, int64(e.Ino), int64(e.Type))
}

// Xattr writes an extended attribute, in ascending order of inodes and names.
func (b *Builder) Xattr(ino store.Ino, x store.Xattr) error {
	if x.Value == nil {
		x.Value = []byte{} // nil is NULL
	}
	return b.xattr.AppendKey(int64(ino), x.Name, x.Value)
}

// Content writes the bytes of r as the content of an inode, in ascending order of inodes. It
// returns their number, and how many of them became holes. Whole chunks of zeros become holes; they
// are not read if r is a store.SparseReader. An error of r is returned as it is.
func (b *Builder) Content(ino store.Ino, r io.Reader) (size, holes int64, err error) {
	for err == nil {
		skipped, skipErr := store.SkipHole(r, size)
		if skipErr != nil {
			return size, holes, skipErr
		}
		size, holes = size+skipped, holes+skipped
		var n int
		n, err = fill(b.chunk[:], r)
		if n == 0 {
			break
		}
		hole, failed := b.put(ino, size, b.chunk[:n])
		if failed != nil {
			return size, holes, failed
		}
		size, holes = size+int64(n), holes+hole
	}
	if err == io.EOF {
		err = nil
	}
	return size, holes, err
}

// fill reads until p is full or r ends. Unlike io.ReadFull it leaves r's errors as they are: an
// unexpected end is not the end.
func fill(p []byte, r io.Reader) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	return n, err
}

// Bytes does as Content for content that is in memory. It does not keep p.
func (b *Builder) Bytes(ino store.Ino, p []byte) (holes int64, err error) {
	for off := 0; off < len(p); off += store.ChunkSize {
		hole, err := b.put(ino, int64(off), p[off:min(len(p), off+store.ChunkSize)])
		if err != nil {
			return holes, err
		}
		holes += hole
	}
	return holes, nil
}

// Chunk writes the chunk of content at off, which begins one, in ascending order of inodes and
// offsets.
func (b *Builder) Chunk(ino store.Ino, off int64, p []byte) error {
	id := store.DataID(ino, off)
	return b.data.Append(id, id, p)
}

// put writes the chunk at off, unless it is a hole.
func (b *Builder) put(ino store.Ino, off int64, p []byte) (hole int64, err error) {
	if off+int64(len(p)) > store.MaxSize {
		return 0, store.ErrTooLarge
	}
	if len(p) == store.ChunkSize && allZero(p) {
		return int64(len(p)), nil
	}
	return 0, b.Chunk(ino, off, p)
}

// zeros is one chunk of them.
var zeros [store.ChunkSize]byte

func allZero(p []byte) bool { return p[0] == 0 && string(p) == string(zeros[:len(p)]) }
