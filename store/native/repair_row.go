package native

import (
	"fmt"

	"github.com/foliofs/folio/sqlitefile"
	"github.com/foliofs/folio/store"
)

// numbers puts numbers that an inode can have in the place of others, as package check says. What is no inode by its own number goes: no content and no
// name can belong to it, as those of attributes, which stay (R2), do not.
func (r *repairer) numbers() error {
	var none []int64
	err := r.rows(nodeTable, func(row *sqlitefile.Row) error {
		if !store.Ino(row.Rowid()).Valid() {
			none = append(none, row.Rowid())
		}
		return nil
	})
	for _, ino := range none {
		if err == nil {
			err = r.removeNode(ino)
		}
	}
	for i := range r.seen.Nodes() {
		if n := &r.seen.Nodes()[i]; n.Mended && err == nil {
			r.done(n.Ino, fmt.Sprintf("mode set to %#o, uid to %d, gid to %d", n.Mode, n.UID, n.GID), "has numbers that no inode can have")
			err = r.t.Put(&n.Node)
		}
	}
	return err
}

func (r *repairer) removeNode(ino int64) error {
	node, err := r.t.table(nodeTable)
	if err != nil {
		return err
	}
	r.done(store.Ino(ino), "removed", "an inode number out of range")
	_, err = node.Delete(ino)
	return r.t.fail(err)
}

// kinds makes BLOBs of contents and values that are texts, which keeps their bytes, and removes contents of no bytes.
func (r *repairer) kinds() error {
	chunks, err := r.oddChunks()
	for _, c := range chunks {
		if err == nil {
			err = r.rewriteChunk(&c)
		}
	}
	if err != nil {
		return err
	}
	values, err := r.textValues()
	for _, x := range values {
		if err == nil {
			err = r.rewriteValue(&x)
		}
	}
	return err
}

// An oddChunk is a row of table data that holds a text, or nothing.
type oddChunk struct {
	id    int64
	bytes []byte
}

func (r *repairer) oddChunks() (list []oddChunk, err error) {
	err = r.rows(dataTable, func(row *sqlitefile.Row) error {
		kind, err := row.Kind(dataBytes)
		if err != nil || kind < sqlitefile.Text {
			return err
		}
		size, err := row.Size(dataBytes)
		if err != nil || kind == sqlitefile.Blob && size > 0 {
			return err
		}
		text, err := row.Text(dataBytes)
		list = append(list, oddChunk{row.Rowid(), []byte(text)})
		return err
	})
	return list, err
}

func (r *repairer) rewriteChunk(c *oddChunk) error {
	data, err := r.t.table(dataTable)
	if err != nil {
		return err
	}
	ino, chunk := store.Ino(c.id>>store.ChunkBits), c.id&(1<<store.ChunkBits-1)
	if len(c.bytes) == 0 {
		r.done(ino, "removed", "chunk %d has 0 bytes", chunk)
		_, err = data.Delete(c.id)
	} else {
		r.done(ino, "made a BLOB", "chunk %d is a TEXT", chunk)
		_, err = data.Update(c.id, c.id, c.bytes)
	}
	return r.t.fail(err)
}

// A textValue is an extended attribute whose value is a text.
type textValue struct {
	ino   int64
	name  string
	value []byte
}

func (r *repairer) textValues() (list []textValue, err error) {
	err = r.rows(xattrTable, func(row *sqlitefile.Row) error {
		var v [xattrColumns]sqlitefile.Value
		err := row.Values(v[:])
		if v[0].Kind() == sqlitefile.Integer && v[xattrName].Kind() == sqlitefile.Text && v[xattrValue].Kind() == sqlitefile.Text {
			list = append(list, textValue{v[0].Int64(), v[xattrName].Text(), []byte(v[xattrValue].Text())})
		}
		return err
	})
	return list, err
}

func (r *repairer) rewriteValue(x *textValue) error {
	xattr, err := r.t.table(xattrTable)
	if err != nil {
		return err
	}
	r.done(store.Ino(x.ino), "made a BLOB", "the value of extended attribute %q is a TEXT", x.name)
	return r.t.fail(xattr.PutKey(x.ino, x.name, x.value))
}
