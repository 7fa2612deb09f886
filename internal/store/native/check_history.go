package native

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// history looks at the kept rows of snapshots (H1 to H5).
func (c *checker) history() error {
	ok, err := hasHistory(c.tx)
	var rows []snapshotRow
	if err == nil && ok {
		rows, err = snapshotRows(c.tx)
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
	blocks []int64 // of data_was; sorted, without those that were seen, from when block begins
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
	var v [nodeWasColumns]sqlitefile.Value
	if err := row.ValuesUpTo(maxNumber, v[:]); err != nil {
		return err
	}
	ino := v[nodeWasIno].Int64()
	h.kept("node_was", v[nodeWasIno], v[nodeWasUntil])
	raw, odd := nodeRow((*[nodeColumns]sqlitefile.Value)(v[nodeWasUntil:]))
	n, fit := raw.Node(store.Ino(ino))
	if !store.Ino(ino).Valid() || odd || !fit || n.Plausible() != nil {
		h.odd("node_was", "inode %d has numbers that no inode can have", ino)
	}
	return nil
}

func (h *historyChecker) entry(row *sqlitefile.Row) error {
	var v [entryWasColumns]sqlitefile.Value
	if err := row.ValuesUpTo(maxEntry, v[:]); err != nil {
		return err
	}
	e, err := decodeKeptEntry(&v)
	h.kept("entry_was", v[entryWasParent], v[entryWasUntil])
	if err != nil || !e.parent.Valid() || !store.ValidName(e.name) {
		h.odd("entry_was", "an impossible entry %.100q of inode %d", e.name, e.parent)
	}
	return nil
}

func (h *historyChecker) data(row *sqlitefile.Row) error {
	var v [dataWasColumns]sqlitefile.Value
	if err := row.ValuesUpTo(maxBlock, v[:]); err != nil {
		return err
	}
	h.kept("data_was", v[dataWasID], v[dataWasUntil])
	block, err := decodeKeptBlock(&v)
	empty := v[dataWasBlock].Kind() == sqlitefile.KindBlob && len(block.content) == 0
	if err != nil || empty || v[dataWasID].Int64() < 0 {
		h.odd("data_was", "row %d has an impossible number or content", v[dataWasID].Int64())
	}
	if block.id > 0 {
		h.blocks = append(h.blocks, block.id)
	}
	return nil
}

func (h *historyChecker) xattr(row *sqlitefile.Row) error {
	x, _, _, err := keptXattrOf(0, row)
	var v [xattrWasColumns]sqlitefile.Value
	if err == nil {
		err = row.ValuesUpTo(store.MaxXattrValue+1, v[:])
	}
	if err == nil {
		h.kept("xattr_was", v[xattrWasIno], v[xattrWasUntil])
	}
	if errors.Is(err, store.ErrDamaged) || err == nil && (x.Name == "" || !store.Ino(v[xattrWasIno].Int64()).Valid()) {
		h.odd("xattr_was", "an impossible extended attribute %.100q", x.Name)
		err = nil
	}
	return err
}

// block compares the rows of block, which come in order, with those that are wanted (H4).
func (h *historyChecker) block(row *sqlitefile.Row) error {
	size, err := row.Size(blockBytes)
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
