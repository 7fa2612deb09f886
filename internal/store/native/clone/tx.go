package clone

import (
	"errors"
	"fmt"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// A clone is a file that shares chunks with another one, its base: it has a row in table origin.
//
// Invariants:
//
//	C1  Chunk k of a clone is its own row of table data, if there is one. Otherwise it is the row
//	    of the base, if k is less than origin.chunks. An own row of no bytes, which only a clone
//	    may have, says that the chunk is zeros.
//	C2  Before a row of a base is changed, made or deleted, each clone that shows it gets a copy:
//	    an empty row, if there is none. The clone's content stays the same, so nothing is kept for
//	    snapshots. A snapshot for which nothing was kept sees the clone's current content (H1).
//	C3  The rows kept for snapshots of a clone hold its content, whether from its own row or from
//	    the base's. So the past of a clone does not need the past of its base.
//	C4  origin.chunks only becomes smaller. When it is 0 the row goes.
//	C5  A base has no origin itself. It stays, as an orphan, while a row of origin names it.
//	C6  user_version is store.CloneVersion if and only if there is table origin. The triggers and
//	    the views come from store.Triggers, FileStatementsOf and HistoryViews.

// A Tx is a write transaction in which files can share content.
type Tx struct {
	*rowstore.Tx
	Cloneless bool // a transaction has removed the last clone
}

var _ store.Cloner = (*Tx)(nil)

// Sharing returns with whom an inode shares content.
func (t *Tx) Sharing(ino store.Ino) (s rowstore.Sharing, err error) {
	if !t.HasClones() {
		return s, nil
	}
	if slot := t.Writer.Cache.Node(ino); slot.Ino == ino && slot.Sharing.Known {
		return slot.Sharing, nil
	}
	if s.Origin, err = t.OriginOf(ino); err == nil && s.Chunks == 0 {
		s.IsBase, err = t.IsBase(ino)
	}
	if s.Known = err == nil; s.Known {
		t.setSharing(ino, s)
	}
	return s, err
}

// setSharing remembers with whom an inode shares content, if the inode is in the cache.
func (t *Tx) setSharing(ino store.Ino, s rowstore.Sharing) {
	if slot := t.Writer.Cache.Node(ino); slot.Ino == ino {
		slot.Sharing = s
	}
}

// MaxCopied is the longest content that CloneContent copies, as that is faster.
const MaxCopied = 1024

// CloneContent implements store.Cloner. Of a clone it copies the own rows, and takes the base.
func (t *Tx) CloneContent(from *store.Node, to store.Ino) error {
	t.Adds = true
	if err := t.cloneContent(from, to); err != nil {
		return t.Fail(err)
	}
	return nil
}

func (t *Tx) cloneContent(from *store.Node, to store.Ino) error {
	data, err := t.Changing(rowstore.DataTable)
	if err != nil || from.Size == from.Holes {
		return err
	}
	if stored := from.Size - from.Holes; from.Size <= store.ChunkSize && stored <= MaxCopied {
		done, chunk := 0, t.Writer.Chunk[:stored]
		if err := t.ReadContent(from, chunk, 0, &done); err != nil {
			return err
		}
		return data.InsertRowid(store.DataID(to, 0), t.Writer.Row.Data(chunk)...)
	}
	if err := t.addClones(); err != nil {
		return err
	}
	s, err := t.Sharing(from.Ino)
	if err != nil {
		return err
	}
	o := s.Origin
	if o.Chunks == 0 {
		o = rowstore.Origin{Base: from.Ino, Chunks: (from.Size + store.ChunkSize - 1) / store.ChunkSize}
	} else if err := t.copyRows(from.Ino, to); err != nil {
		return err
	}
	origins, err := t.Table(rowstore.OriginTable)
	if err != nil {
		return err
	}
	if err := origins.InsertRowid(int64(to), t.Writer.Row.Origin(to, o)...); err != nil {
		return err
	}
	t.setSharing(o.Base, rowstore.Sharing{Known: true, IsBase: true})
	t.setSharing(to, rowstore.Sharing{Known: true, Origin: o})
	return nil
}

// copyRows copies the data rows of an inode to another one, which has none.
func (t *Tx) copyRows(from, to store.Ino) error {
	data, err := t.Table(rowstore.DataTable) // again: addClones may have changed the schema
	if err != nil {
		return err
	}
	low, high := store.ChunkRange(from, 0)
	ids, err := rowids(data, low, high)
	for _, id := range ids {
		if err == nil {
			err = t.copyRow(id, store.DataID(to, 0)+id-low)
		}
	}
	return err
}

// rowids returns the ids of the rows in a range.
func rowids(t *sqlitefile.TableWriter, low, high int64) (ids []int64, err error) {
	for row, err := range t.Range(low, high) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, row.Rowid())
	}
	return ids, nil
}

// copyRow makes a data row that is a copy of another one, of no bytes if there is no other.
func (t *Tx) copyRow(from, to int64) error {
	t.Adds = true
	data, err := t.Changing(rowstore.DataTable)
	if err != nil {
		return err
	}
	row, ok, err := data.Get(from)
	if err != nil {
		return err
	}
	size := 0
	if ok {
		if size, err = rowstore.ChunkSize(&row, from); err != nil {
			return err
		}
	}
	chunk := t.Writer.Chunk[:size]
	if err := rowstore.ReadRow(&row, chunk); err != nil {
		return err
	}
	return data.InsertRowid(to, t.Writer.Row.Data(chunk)...)
}

// copyToClones gives a chunk of a base to the clones that show it, before it is changed (C2).
func (t *Tx) copyToClones(s *rowstore.Sharing, id int64) error {
	if !s.IsBase {
		return nil
	}
	ino := store.Ino(id >> store.ChunkBits)
	clones, err := t.ClonesOf(ino)
	if err != nil {
		return err
	}
	for _, clone := range clones {
		if err := t.copyToClone(clone, id); err != nil {
			return err
		}
	}
	return nil
}

// copyToClone gives a chunk of a base to a clone, if it shows it.
func (t *Tx) copyToClone(clone store.Ino, id int64) error {
	o, err := t.OriginOf(clone)
	if err != nil {
		return err
	}
	chunk := id & (1<<store.ChunkBits - 1)
	if chunk >= o.Chunks {
		return nil
	}
	data, err := t.Table(rowstore.DataTable)
	if err != nil {
		return err
	}
	own := store.DataID(clone, 0) + chunk
	if _, ok, err := data.Get(own); err != nil || ok {
		return err
	}
	return t.copyRow(id, own)
}

// copyAllToClones is copyToClones for all rows of a base from a chunk on, which are about to be
// deleted.
func (t *Tx) copyAllToClones(s *rowstore.Sharing, ino store.Ino, first int64) error {
	if !s.IsBase {
		return nil
	}
	data, err := t.Table(rowstore.DataTable)
	if err != nil {
		return err
	}
	low, high := store.ChunkRange(ino, first)
	ids, err := rowids(data, low, high)
	if err != nil {
		return err
	}
	clones, err := t.ClonesOf(ino)
	for _, clone := range clones {
		for _, id := range ids {
			if err == nil {
				err = t.copyToClone(clone, id)
			}
		}
	}
	return err
}

// SharedRow returns the row with a chunk: its own, or the base's (C1).
func (t *Tx) SharedRow(id int64) (row sqlitefile.Row, ok bool, err error) {
	data, err := t.Table(rowstore.DataTable)
	if err != nil {
		return row, false, err
	}
	if row, ok, err = data.Get(id); err != nil || ok {
		return row, ok, err
	}
	s, err := t.Sharing(store.Ino(id >> store.ChunkBits))
	if base, shared := s.Shares(id); shared && err == nil {
		row, ok, err = data.Get(base)
	}
	return row, ok, err
}

// BreakShare gives a chunk, before it changes, to the clones that show it, and to the inode itself
// if that is a clone.
func (t *Tx) BreakShare(id int64) error {
	s, err := t.Sharing(store.Ino(id >> store.ChunkBits))
	if err == nil {
		err = t.copyToClones(&s, id)
	}
	if err == nil {
		err = t.unshare(&s, id)
	}
	return err
}

// BreakShares gives all chunks from one on to the clones that show them, before they are deleted.
// Of a clone it returns how many bytes it shared there, which it does no more.
func (t *Tx) BreakShares(ino store.Ino, first int64) (less int64, err error) {
	s, err := t.Sharing(ino)
	if err == nil {
		err = t.copyAllToClones(&s, ino, first)
	}
	if err != nil || s.Chunks <= first {
		return 0, err
	}
	data, err := t.Table(rowstore.DataTable)
	if err != nil {
		return 0, err
	}
	for c, err := range t.BaseChunks(s.Origin, ino, first) {
		own := false
		if err == nil {
			_, own, err = data.Get(c.ID)
		}
		if err != nil {
			return 0, err
		}
		if !own {
			less += c.Size
		}
	}
	return less, t.shareLess(&s, ino, first)
}

// unshare makes an own row of a chunk that a clone shows.
func (t *Tx) unshare(s *rowstore.Sharing, id int64) error {
	base, ok := s.Shares(id)
	if !ok {
		return nil
	}
	data, err := t.Table(rowstore.DataTable)
	if err != nil {
		return err
	}
	if _, ok, err := data.Get(id); err != nil || ok {
		return err
	}
	if _, ok, err := data.Get(base); err != nil || !ok {
		return err
	}
	return t.copyRow(base, id)
}

// shareLess lets a clone share no chunk from one on (C4). The caller deletes its own rows of them.
func (t *Tx) shareLess(s *rowstore.Sharing, ino store.Ino, chunks int64) error {
	if chunks >= s.Chunks {
		return nil
	}
	origins, err := t.Changing(rowstore.OriginTable)
	if err != nil {
		return err
	}
	t.setSharing(ino, rowstore.Sharing{})
	if chunks > 0 {
		_, err := origins.Update(int64(ino), t.Writer.Row.Origin(ino, rowstore.Origin{Base: s.Base, Chunks: chunks})...)
		return err
	}
	if _, err := origins.Delete(int64(ino)); err != nil {
		return err
	}
	return t.lostClone(s.Base)
}

// lostClone is called when an inode has one clone less (C5).
func (t *Tx) lostClone(base store.Ino) error {
	t.setSharing(base, rowstore.Sharing{})
	more, err := t.IsBase(base)
	if err != nil || more {
		return err
	}
	if n, err := t.Node(base); err == nil && n.Nlink == 0 {
		t.Orphans++
		t.Freed = append(t.Freed, base)
	} else if err := rowstore.UnlessDamaged(err); err != nil {
		return err
	}
	origins, err := t.Table(rowstore.OriginTable)
	if err == nil {
		_, more, err = origins.LastRowid()
	}
	if err == nil && !more {
		t.Cloneless = true
	}
	return err
}

// addClones makes the table of a volume with clones, and all that belongs to it (C6), unless it is
// there.
func (t *Tx) addClones() error {
	if t.HasClones() {
		return nil
	}
	if _, err := t.DB.Rx.Table("origin"); err == nil {
		return fmt.Errorf("%w: another program has added a table origin, and files that share content need one of that name", errors.ErrUnsupported)
	} else if !errors.Is(err, sqlitefile.ErrNoTable) {
		return err
	}
	for _, sql := range store.CloneTables {
		if err := t.DB.Exec(sql); err != nil {
			return err
		}
	}
	if err := t.DB.SetUserVersion(store.CloneVersion); err != nil {
		return err
	}
	return t.SyncViews()
}

// DropClones makes the volume one that never had clones, if there are none.
func (t *Tx) DropClones() error {
	if !t.HasClones() {
		return nil
	}
	origins, err := t.Table(rowstore.OriginTable)
	if err != nil {
		return err
	}
	if _, more, err := origins.LastRowid(); err != nil || more {
		return err
	}
	t.Changed = true
	if err := t.DB.SetUserVersion(store.SchemaVersion); err != nil {
		return err
	}
	if err := t.SyncViews(); err != nil {
		return err
	}
	t.Opened = [len(rowstore.TableNames)]bool{}
	return t.DB.Exec("DROP TABLE origin")
}
