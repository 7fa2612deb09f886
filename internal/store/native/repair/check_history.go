package repair

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/history"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// history looks at the kept rows of snapshots (H1 to H5).
func (c *checker) history() error {
	ok, err := rowstore.HasHistory(c.tx)
	var rows []history.SnapshotRow
	if err == nil && ok {
		rows, err = history.SnapshotRows(c.tx)
	}
	if errors.Is(err, store.ErrDamaged) {
		c.report.Add(store.Problem{What: err.Error()})
		return nil
	}
	if err != nil || len(rows) == 0 {
		return c.unreadable("snapshot", err)
	}
	h := &historyChecker{checker: c, last: rows[len(rows)-1].ID}
	for _, step := range []struct {
		table string
		feed  func(row *sqlitefile.Row) error
	}{
		{"node_was", h.node}, {"entry_was", h.entry}, {"data_was", h.data}, {"xattr_was", h.xattr},
	} {
		if err := c.table(step.table, step.feed); err != nil {
			return err
		}
	}
	slices.Sort(h.blocks)
	err = c.table("block", h.block)
	for _, block := range h.blocks {
		h.odd("block", "row %d is missing", block)
	}
	if err != nil {
		return err
	}
	return c.pasts(rows)
}

// A historyChecker looks at kept rows.
type historyChecker struct {
	*checker
	last   int64   // the highest id of a snapshot
	blocks []int64 // of data_was; sorted; block removes the ones it has seen
}

func (h *historyChecker) odd(table, format string, args ...any) {
	h.report.Add(store.Problem{What: "table " + table + ": " + fmt.Sprintf(format, args...)})
}

// kept checks that a row was kept of something that there may have been, for a snapshot that there
// may have been.
func (h *historyChecker) kept(table string, key, until sqlitefile.Value) {
	if key.Kind() != sqlitefile.KindInteger {
		h.odd(table, "a row has a key of kind %v", key.Kind())
	}
	if until.Kind() != sqlitefile.KindInteger || until.Int64() < 1 || until.Int64() > h.last {
		h.odd(table, "row %d was kept for snapshot %d, which never was", key.Int64(), until.Int64())
	}
}

func (h *historyChecker) node(row *sqlitefile.Row) error {
	var v [rowstore.NodeWasColumns]sqlitefile.Value
	if err := row.ValuesUpTo(rowstore.MaxNumber, v[:]); err != nil {
		return err
	}
	ino := v[rowstore.NodeWasIno].Int64()
	h.kept("node_was", v[rowstore.NodeWasIno], v[rowstore.NodeWasUntil])
	raw, odd := rowstore.NodeRow((*[rowstore.NodeColumns]sqlitefile.Value)(v[rowstore.NodeWasUntil:]))
	n, fit := raw.Node(store.Ino(ino))
	if !store.Ino(ino).Valid() || odd || !fit || n.Plausible() != nil {
		h.odd("node_was", "inode %d has numbers that no inode can have", ino)
	}
	return nil
}

func (h *historyChecker) entry(row *sqlitefile.Row) error {
	var v [rowstore.EntryWasColumns]sqlitefile.Value
	if err := row.ValuesUpTo(rowstore.MaxEntry, v[:]); err != nil {
		return err
	}
	e, err := history.DecodePreservedEntry(&v)
	h.kept("entry_was", v[rowstore.EntryWasParent], v[rowstore.EntryWasUntil])
	if err != nil || !e.Parent.Valid() || !store.ValidName(e.Name) {
		h.odd("entry_was", "an impossible entry %.100q of inode %d", e.Name, e.Parent)
	}
	return nil
}

func (h *historyChecker) data(row *sqlitefile.Row) error {
	var v [rowstore.DataWasColumns]sqlitefile.Value
	if err := row.ValuesUpTo(history.MaxBlock, v[:]); err != nil {
		return err
	}
	h.kept("data_was", v[rowstore.DataWasID], v[rowstore.DataWasUntil])
	block, err := history.DecodePreservedBlock(&v)
	empty := v[rowstore.DataWasBlock].Kind() == sqlitefile.KindBlob && len(block.Content) == 0
	if err != nil || empty || v[rowstore.DataWasID].Int64() < 0 {
		h.odd("data_was", "row %d has an impossible number or content", v[rowstore.DataWasID].Int64())
	}
	if block.ID > 0 {
		h.blocks = append(h.blocks, block.ID)
	}
	return nil
}

func (h *historyChecker) xattr(row *sqlitefile.Row) error {
	x, _, _, err := history.PreservedXattrOf(0, row)
	var v [rowstore.XattrWasColumns]sqlitefile.Value
	if err == nil {
		err = row.ValuesUpTo(store.MaxXattrValue+1, v[:])
	}
	if err == nil {
		h.kept("xattr_was", v[rowstore.XattrWasIno], v[rowstore.XattrWasUntil])
	}
	if errors.Is(err, store.ErrDamaged) || err == nil && (x.Name == "" || !store.Ino(v[rowstore.XattrWasIno].Int64()).Valid()) {
		h.odd("xattr_was", "an impossible extended attribute %.100q", x.Name)
		err = nil
	}
	return err
}

// block compares the rows of block, which come in order, with the rows that are wanted (H4).
func (h *historyChecker) block(row *sqlitefile.Row) error {
	size, err := row.Size(rowstore.BlockBytes)
	if err != nil {
		return err
	}
	id := row.Rowid()
	if size == 0 || size > store.ChunkSize {
		h.odd("block", "row %d has %d bytes", id, size)
	}
	for len(h.blocks) > 0 && h.blocks[0] < id {
		h.odd("block", "row %d is missing, or wanted twice", h.blocks[0])
		h.blocks = h.blocks[1:]
	}
	if len(h.blocks) == 0 || h.blocks[0] != id {
		h.odd("block", "row %d belongs to no chunk", id)
		return nil
	}
	h.blocks = h.blocks[1:]
	return nil
}
