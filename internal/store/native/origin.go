package native

import (
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// An origin is a row of table origin. It has 0 chunks if there is none.
type origin struct {
	base   store.Ino
	chunks int64
}

// shares returns the id of the row of the base that shows through where a chunk has no own row.
func (o origin) shares(id int64) (base int64, ok bool) {
	chunk := id & (1<<store.ChunkBits - 1)
	return store.DataID(o.base, 0) + chunk, chunk < o.chunks
}

// hasClones reports whether files of the volume may share content (C6).
func (r rx) hasClones() bool { return r.tx.UserVersion() >= store.CloneVersion }

// originOf returns the origin of an inode.
func (r rx) originOf(ino store.Ino) (o origin, err error) {
	if !r.hasClones() {
		return o, nil
	}
	t, err := r.tx.Table("origin")
	if err != nil {
		return o, err
	}
	row, ok, err := t.Get(int64(ino))
	if err != nil || !ok {
		return o, err
	}
	return decodeOrigin(&row)
}

// decodeOrigin decodes a row of table origin.
func decodeOrigin(row *sqlitefile.Row) (o origin, err error) {
	var v [originColumns]sqlitefile.Value
	if err := row.ValuesUpTo(maxNumber, v[:]); err != nil {
		return o, err
	}
	o = origin{store.Ino(v[originBase].Int64()), v[originChunks].Int64()}
	if v[originBase].Kind() != sqlitefile.KindInteger || v[originChunks].Kind() != sqlitefile.KindInteger ||
		!o.base.Valid() || int64(o.base) == row.Rowid() || o.chunks < 1 || o.chunks > 1<<store.ChunkBits {
		return origin{}, store.Damaged("inode %d shares %d chunks with inode %d, which cannot be", row.Rowid(), v[originChunks].Int64(), v[originBase].Int64())
	}
	return o, nil
}

// clonesOf returns the clones of an inode.
func (r rx) clonesOf(base store.Ino) (list []store.Ino, err error) {
	x, err := r.tx.Index("origin_base")
	if err != nil {
		return nil, err
	}
	for row, err := range x.Prefix(int64(base)) {
		if err != nil {
			return nil, err
		}
		list = append(list, store.Ino(row.Rowid()))
	}
	return list, nil
}

// isBase reports whether an inode has clones.
func (r rx) isBase(ino store.Ino) (bool, error) {
	if !r.hasClones() {
		return false, nil
	}
	x, err := r.tx.Index("origin_base")
	if err != nil {
		return false, err
	}
	_, ok, err := x.Find(int64(ino))
	return ok, err
}
