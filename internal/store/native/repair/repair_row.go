package repair

import (
	"fmt"
	"strings"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// numbers replaces numbers that an inode cannot have, as package check does. A row whose own number
// is out of range is removed: no content and no name can belong to it. Extended attributes of such
// a number stay (R2).
func (r *repairer) numbers() error {
	var none []int64
	set := make(map[store.Ino]string)
	err := r.rows(rowstore.NodeTable, func(row *sqlitefile.Row) error {
		ino := store.Ino(row.Rowid())
		if !ino.Valid() {
			none = append(none, row.Rowid())
		} else if n := r.seen.Find(ino); n != nil && n.Mended {
			var v [rowstore.NodeColumns]sqlitefile.Value
			if err := row.ValuesUpTo(rowstore.MaxNumber, v[:]); err != nil {
				return err
			}
			set[ino] = mended(&v, &n.Node)
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
			r.done(n.Ino, set[n.Ino], "has numbers that no inode can have")
			err = r.t.Put(&n.Node)
		}
	}
	return err
}

// mended says which columns of a row get another value when it becomes the row of n.
func mended(v *[rowstore.NodeColumns]sqlitefile.Value, n *store.Node) string {
	var list []string
	for i, value := range [rowstore.NodeColumns]int64{
		int64(n.Ino), int64(n.Mode), int64(n.Nlink), int64(n.UID), int64(n.GID), n.Size, n.Holes, n.Mtime, n.Ctime, n.Atime, int64(n.Rdev),
	} {
		if v[i].Kind() == sqlitefile.KindInteger && v[i].Int64() == value {
			continue
		}
		format := "%s set to %d"
		if i == rowstore.NodeMode {
			format = "%s set to %#o"
		}
		list = append(list, fmt.Sprintf(format, rowstore.TableShapes[rowstore.NodeTable].Columns[i], value))
	}
	return strings.Join(list, ", ")
}

func (r *repairer) removeNode(ino int64) error {
	node, err := r.t.Table(rowstore.NodeTable)
	if err != nil {
		return err
	}
	r.done(store.Ino(ino), "removed", "an inode number out of range")
	_, err = node.Delete(ino)
	return r.t.Fail(err)
}

// kinds makes BLOBs of contents and values that are texts, which keeps their bytes, and removes
// contents of no bytes.
func (r *repairer) kinds() error {
	chunks, err := r.oddChunks()
	for _, id := range chunks {
		if err == nil {
			err = r.rewriteChunk(id)
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

// oddChunks returns the ids of the rows of table data that hold a text, or nothing.
func (r *repairer) oddChunks() (list []int64, err error) {
	err = r.rows(rowstore.DataTable, func(row *sqlitefile.Row) error {
		kind, err := row.Kind(rowstore.DataBytes)
		if err != nil || kind < sqlitefile.KindText {
			return err
		}
		size, err := row.Size(rowstore.DataBytes)
		empty := size == 0 && !r.mayBeEmpty(row.Rowid())
		if err == nil && (kind == sqlitefile.KindText && size <= store.ChunkSize || empty) {
			list = append(list, row.Rowid())
		}
		return err
	})
	return list, err
}

// mayBeEmpty reports whether a data row is one of a clone, if it hides the base's row (C1).
func (r *repairer) mayBeEmpty(id int64) bool {
	n := r.seen.Find(store.Ino(id >> store.ChunkBits))
	return n != nil && id&(1<<store.ChunkBits-1) < n.Chunks
}

func (r *repairer) rewriteChunk(id int64) error {
	data, err := r.t.Table(rowstore.DataTable)
	if err != nil {
		return err
	}
	row, ok, err := data.Get(id)
	if err != nil || !ok {
		return err
	}
	text, err := row.Text(rowstore.DataBytes)
	if err != nil {
		return err
	}
	ino, chunk := store.Ino(id>>store.ChunkBits), id&(1<<store.ChunkBits-1)
	if text == "" && !r.mayBeEmpty(id) {
		r.done(ino, "removed", "chunk %d has 0 bytes", chunk)
		_, err = data.Delete(id)
	} else {
		r.done(ino, "made a BLOB", "chunk %d is a TEXT", chunk)
		_, err = data.Update(id, id, []byte(text))
	}
	return r.t.Fail(err)
}

// A textValue is an extended attribute whose value is a text.
type textValue struct {
	ino  int64
	name string
}

func (r *repairer) textValues() (list []textValue, err error) {
	err = r.rows(rowstore.XattrTable, func(row *sqlitefile.Row) error {
		var v [rowstore.XattrColumns]sqlitefile.Value
		err := row.ValuesUpTo(store.MaxXattrValue+1, v[:])
		if v[0].Kind() != sqlitefile.KindInteger || v[rowstore.XattrName].Kind() != sqlitefile.KindText || v[rowstore.XattrValue].Kind() != sqlitefile.KindText {
			return err
		}
		if name := v[rowstore.XattrName].Bytes(); len(name) <= store.MaxXattrName && len(v[rowstore.XattrValue].Bytes()) <= store.MaxXattrValue {
			list = append(list, textValue{v[0].Int64(), string(name)})
		}
		return err
	})
	return list, err
}

func (r *repairer) rewriteValue(x *textValue) error {
	xattr, err := r.t.Table(rowstore.XattrTable)
	if err != nil {
		return err
	}
	row, ok, err := xattr.Find(x.ino, x.name)
	if err != nil || !ok {
		return err
	}
	value, err := row.Text(rowstore.XattrValue)
	if err != nil {
		return err
	}
	r.done(store.Ino(x.ino), "made a BLOB", "the value of extended attribute %q is a TEXT", x.name)
	return r.t.Fail(xattr.PutKey(x.ino, x.name, []byte(value)))
}
