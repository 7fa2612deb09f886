package native

import (
	"errors"
	"fmt"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// A clone is a file that shares chunks with another one, its base: it has a row in table origin.
//
// Invariants:
//
//	C1  Chunk k of a clone is its own row of table data, if there is one. Otherwise it is that of
//	    the base, if k is less than origin.chunks. An own row of no bytes, which only a clone may
//	    have, says that the chunk is zeros.
//	C2  Before a row of a base is changed, made or deleted, each clone that shows it gets a copy: an
//	    empty row, if there is none. What a clone holds stays the same, so nothing is kept for
//	    snapshots. A snapshot for which nothing was kept sees what the clone holds now (H1).
//	C3  What is kept of a clone for snapshots is what it holds, its own row or that of the base. So
//	    the past of a clone does not need the past of its base.
//	C4  origin.chunks only becomes smaller. When it is 0 the row goes.
//	C5  A base has no origin itself. It stays, as an orphan, while a row of origin names it.
//	C6  user_version is store.CloneVersion if and only if there is table origin. The triggers and
//	    the views are those of store.Triggers, FileStatementsOf and HistoryViews.

// A cloneTx is a write transaction in which files can share content.
type cloneTx struct {
	*rowsTx
	cloneless bool // a transaction has removed the last clone
}

var _ store.Cloner = (*cloneTx)(nil)

// sharing returns with whom an inode shares content.
func (t *cloneTx) sharing(ino store.Ino) (s sharing, err error) {
	if !t.hasClones() {
		return s, nil
	}
	if slot := t.w.cache.node(ino); slot.Ino == ino && slot.sharing.known {
		return slot.sharing, nil
	}
	if s.origin, err = t.originOf(ino); err == nil && s.chunks == 0 {
		s.isBase, err = t.isBase(ino)
	}
	if s.known = err == nil; s.known {
		t.setSharing(ino, s)
	}
	return s, err
}

// setSharing remembers with whom an inode shares content, if the inode is in the cache.
func (t *cloneTx) setSharing(ino store.Ino, s sharing) {
	if slot := t.w.cache.node(ino); slot.Ino == ino {
		slot.sharing = s
	}
}

// maxCopied is the longest content that CloneContent copies, as that is faster.
const maxCopied = 1024

// CloneContent implements store.Cloner. Of a clone it copies the own rows, and takes the base.
func (t *cloneTx) CloneContent(from *store.Node, to store.Ino) error {
	t.adds = true
	if err := t.cloneContent(from, to); err != nil {
		return t.fail(err)
	}
	return nil
}

func (t *cloneTx) cloneContent(from *store.Node, to store.Ino) error {
	data, err := t.changing(dataTable)
	if err != nil || from.Size == from.Holes {
		return err
	}
	if stored := from.Size - from.Holes; from.Size <= store.ChunkSize && stored <= maxCopied {
		done, chunk := 0, t.w.chunk[:stored]
		if err := t.read(from, chunk, 0, &done); err != nil {
			return err
		}
		return data.InsertRowid(store.DataID(to, 0), t.w.row.data(chunk)...)
	}
	if err := t.addClones(); err != nil {
		return err
	}
	s, err := t.sharing(from.Ino)
	if err != nil {
		return err
	}
	o := s.origin
	if o.chunks == 0 {
		o = origin{from.Ino, (from.Size + store.ChunkSize - 1) / store.ChunkSize}
	} else if err := t.copyRows(from.Ino, to); err != nil {
		return err
	}
	origins, err := t.table(originTable)
	if err != nil {
		return err
	}
	if err := origins.InsertRowid(int64(to), t.w.row.origin(to, o)...); err != nil {
		return err
	}
	t.setSharing(o.base, sharing{known: true, isBase: true})
	t.setSharing(to, sharing{known: true, origin: o})
	return nil
}

// copyRows copies the data rows of an inode to another one, which has none.
func (t *cloneTx) copyRows(from, to store.Ino) error {
	data, err := t.table(dataTable) // again: addClones may have changed the schema
	if err != nil {
		return err
	}
	low, high := chunkRange(from, 0)
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
func (t *cloneTx) copyRow(from, to int64) error {
	t.adds = true
	data, err := t.changing(dataTable)
	if err != nil {
		return err
	}
	row, ok, err := data.Get(from)
	if err != nil {
		return err
	}
	size := 0
	if ok {
		if size, err = chunkSize(&row, from); err != nil {
			return err
		}
	}
	chunk := t.w.chunk[:size]
	if err := readRow(&row, chunk); err != nil {
		return err
	}
	return data.InsertRowid(to, t.w.row.data(chunk)...)
}

// give gives a chunk of a base to the clones that show it, before it is changed (C2).
func (t *cloneTx) give(s *sharing, id int64) error {
	if !s.isBase {
		return nil
	}
	ino := store.Ino(id >> store.ChunkBits)
	clones, err := t.clonesOf(ino)
	if err != nil {
		return err
	}
	for _, clone := range clones {
		if err := t.giveTo(clone, id); err != nil {
			return err
		}
	}
	return nil
}

// giveTo gives a chunk of a base to a clone, if it shows it.
func (t *cloneTx) giveTo(clone store.Ino, id int64) error {
	o, err := t.originOf(clone)
	if err != nil {
		return err
	}
	chunk := id & (1<<store.ChunkBits - 1)
	if chunk >= o.chunks {
		return nil
	}
	data, err := t.table(dataTable)
	if err != nil {
		return err
	}
	own := store.DataID(clone, 0) + chunk
	if _, ok, err := data.Get(own); err != nil || ok {
		return err
	}
	return t.copyRow(id, own)
}

// giveAll is give for all rows of a base from a chunk on, which are about to be deleted.
func (t *cloneTx) giveAll(s *sharing, ino store.Ino, first int64) error {
	if !s.isBase {
		return nil
	}
	data, err := t.table(dataTable)
	if err != nil {
		return err
	}
	low, high := chunkRange(ino, first)
	ids, err := rowids(data, low, high)
	if err != nil {
		return err
	}
	clones, err := t.clonesOf(ino)
	for _, clone := range clones {
		for _, id := range ids {
			if err == nil {
				err = t.giveTo(clone, id)
			}
		}
	}
	return err
}

// sharedRow returns the row that has a chunk: its own, or that of the base (C1).
func (t *cloneTx) sharedRow(id int64) (row sqlitefile.Row, ok bool, err error) {
	data, err := t.table(dataTable)
	if err != nil {
		return row, false, err
	}
	if row, ok, err = data.Get(id); err != nil || ok {
		return row, ok, err
	}
	s, err := t.sharing(store.Ino(id >> store.ChunkBits))
	if base, shared := s.shares(id); shared && err == nil {
		row, ok, err = data.Get(base)
	}
	return row, ok, err
}

// breakShare gives a chunk, before it changes, to the clones that show it, and to the inode itself
// if that is a clone.
func (t *cloneTx) breakShare(id int64) error {
	s, err := t.sharing(store.Ino(id >> store.ChunkBits))
	if err == nil {
		err = t.give(&s, id)
	}
	if err == nil {
		err = t.own(&s, id)
	}
	return err
}

// breakShares gives all chunks from one on to the clones that show them, before they are deleted.
// Of a clone it returns how many bytes it shared there, which it does no more.
func (t *cloneTx) breakShares(ino store.Ino, first int64) (less int64, err error) {
	s, err := t.sharing(ino)
	if err == nil {
		err = t.giveAll(&s, ino, first)
	}
	if err != nil || s.chunks <= first {
		return 0, err
	}
	data, err := t.table(dataTable)
	if err != nil {
		return 0, err
	}
	for c, err := range t.baseChunks(s.origin, ino, first) {
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

// own makes an own row of a chunk that a clone shows.
func (t *cloneTx) own(s *sharing, id int64) error {
	base, ok := s.shares(id)
	if !ok {
		return nil
	}
	data, err := t.table(dataTable)
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
func (t *cloneTx) shareLess(s *sharing, ino store.Ino, chunks int64) error {
	if chunks >= s.chunks {
		return nil
	}
	origins, err := t.changing(originTable)
	if err != nil {
		return err
	}
	t.setSharing(ino, sharing{})
	if chunks > 0 {
		_, err := origins.Update(int64(ino), t.w.row.origin(ino, origin{s.base, chunks})...)
		return err
	}
	if _, err := origins.Delete(int64(ino)); err != nil {
		return err
	}
	return t.released(s.base)
}

// released is called when an inode has one clone less (C5).
func (t *cloneTx) released(base store.Ino) error {
	t.setSharing(base, sharing{})
	more, err := t.isBase(base)
	if err != nil || more {
		return err
	}
	if n, err := t.Node(base); err == nil && n.Nlink == 0 {
		t.orphans++
		t.freed = append(t.freed, base)
	} else if err := unlessDamaged(err); err != nil {
		return err
	}
	origins, err := t.table(originTable)
	if err == nil {
		_, more, err = origins.LastRowid()
	}
	if err == nil && !more {
		t.cloneless = true
	}
	return err
}

// addClones makes the table of a volume with clones, and all that belongs to it (C6), unless it is
// there.
func (t *cloneTx) addClones() error {
	if t.hasClones() {
		return nil
	}
	if _, err := t.db.Rx.Table("origin"); err == nil {
		return fmt.Errorf("%w: another program has added a table origin, and files that share content need one of that name", errors.ErrUnsupported)
	} else if !errors.Is(err, sqlitefile.ErrNoTable) {
		return err
	}
	for _, sql := range store.CloneTables {
		if err := t.db.Exec(sql); err != nil {
			return err
		}
	}
	if err := t.db.SetUserVersion(store.CloneVersion); err != nil {
		return err
	}
	return t.syncViews()
}

// dropClones makes the volume one that never had clones, if there are none.
func (t *cloneTx) dropClones() error {
	if !t.hasClones() {
		return nil
	}
	origins, err := t.table(originTable)
	if err != nil {
		return err
	}
	if _, more, err := origins.LastRowid(); err != nil || more {
		return err
	}
	t.changed = true
	if err := t.db.SetUserVersion(store.SchemaVersion); err != nil {
		return err
	}
	if err := t.syncViews(); err != nil {
		return err
	}
	t.opened = [len(tableNames)]bool{}
	return t.db.Exec("DROP TABLE origin")
}
