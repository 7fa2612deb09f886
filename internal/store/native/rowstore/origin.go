package rowstore

import (
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// An Origin is a row of table origin. It has 0 chunks if there is none.
type Origin struct {
	Base   store.Ino
	Chunks int64
}

// Shares returns the id of the row of the base that shows through if a chunk has no own row.
func (o Origin) Shares(id int64) (base int64, ok bool) {
	chunk := id & (1<<store.ChunkBits - 1)
	return store.DataID(o.Base, 0) + chunk, chunk < o.Chunks
}

// HasClones reports whether files of the volume may share content (C6).
func (r Rx) HasClones() bool { return r.Engine.UserVersion() >= store.CloneVersion }

// OriginOf returns the origin of an inode.
func (r Rx) OriginOf(ino store.Ino) (o Origin, err error) {
	if !r.HasClones() {
		return o, nil
	}
	t, err := r.Engine.Table("origin")
	if err != nil {
		return o, err
	}
	row, ok, err := t.Get(int64(ino))
	if err != nil || !ok {
		return o, err
	}
	return DecodeOrigin(&row)
}

// DecodeOrigin decodes a row of table origin.
func DecodeOrigin(row *sqlitefile.Row) (o Origin, err error) {
	var v [originColumns]sqlitefile.Value
	if err := row.ValuesUpTo(MaxNumber, v[:]); err != nil {
		return o, err
	}
	o = Origin{store.Ino(v[originBase].Int64()), v[originChunks].Int64()}
	if v[originBase].Kind() != sqlitefile.KindInteger || v[originChunks].Kind() != sqlitefile.KindInteger ||
		!o.Base.Valid() || int64(o.Base) == row.Rowid() || o.Chunks < 1 || o.Chunks > 1<<store.ChunkBits {
		return Origin{}, store.Damaged("inode %d shares %d chunks with inode %d, which cannot be", row.Rowid(), v[originChunks].Int64(), v[originBase].Int64())
	}
	return o, nil
}

// ClonesOf returns the clones of an inode.
func (r Rx) ClonesOf(base store.Ino) (list []store.Ino, err error) {
	x, err := r.Engine.Index("origin_base")
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

// IsBase reports whether an inode has clones.
func (r Rx) IsBase(ino store.Ino) (bool, error) {
	if !r.HasClones() {
		return false, nil
	}
	x, err := r.Engine.Index("origin_base")
	if err != nil {
		return false, err
	}
	_, ok, err := x.Find(int64(ino))
	return ok, err
}
