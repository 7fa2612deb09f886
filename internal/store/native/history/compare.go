package history

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// Compare calls fn with two states of the volume, and with the inodes and names that may differ
// between them. Between a snapshot and a later state, changed inodes have kept rows, and new ones
// have numbers from the snapshot's next on. Nothing tells the names of an inode but the entries:
// they are read through once.
func Compare(ctx context.Context, db *sqlitefile.DB, from, to string, fn func(from, to store.Rx, d *store.Differences) error) error {
	var own error // is the caller's, and stays as it is
	err := db.View(ctx, func(tx *sqlitefile.Rx) error {
		var a, b *Rx
		d := new(store.Differences)
		err := tx.Guard(func() (err error) {
			if a, err = rxOf(tx, from); err != nil {
				return err
			}
			if b, err = rxOf(tx, to); err != nil {
				return err
			}
			low, high := a, b
			if a.ID > b.ID {
				low, high = b, a
			}
			if low.ID < high.ID {
				d, err = CompareStates(ctx, tx, low, high)
			}
			return err
		})
		if err == nil {
			own = fn(a, b, d)
		}
		return err
	})
	if own != nil {
		return own
	}
	return rowstore.Explain(err)
}

// Live is greater than the number of any snapshot. A past with it reads the volume as it is.
const Live = 1<<63 - 1

// RxOf implements store.PastReader. Nobody tells apart the versions that such transactions
// read.
func RxOf(tx *sqlitefile.Rx, name string) (r store.Rx, err error) {
	if name == "" {
		return nil, store.ErrNoSnapshot
	}
	err = tx.Guard(func() error {
		r, err = rxOf(tx, name)
		return err
	})
	if err != nil {
		return nil, rowstore.Explain(err)
	}
	return r, nil
}

var _ store.PastReader = (*Rx)(nil)

// At implements store.PastReader.
func (r *Rx) At(name string) (store.Rx, error) { return RxOf(r.Engine, name) }

// rxOf returns a state of the volume.
func rxOf(tx *sqlitefile.Rx, name string) (*Rx, error) {
	if name == "" {
		return &Rx{Rx: rowstore.Rx{Engine: tx}, ID: Live, Next: store.MaxIno + 1}, nil
	}
	rows, err := SnapshotRows(tx)
	i := slices.IndexFunc(rows, func(r SnapshotRow) bool { return r.Name == name })
	if err == nil && i < 0 {
		err = store.ErrNoSnapshot
	}
	if err != nil {
		return nil, err
	}
	return &Rx{Rx: rowstore.Rx{Engine: tx}, ID: rows[i].ID, Next: rows[i].Next}, nil
}

// A comparer looks for the inodes and names that may differ between two states.
type comparer struct {
	ctx       context.Context
	rx        rowstore.Rx
	low, high *Rx // the older state and the newer one

	wanted map[store.Ino]bool
	chunks []int64
	names  map[store.Ino][]store.EntryKey
	rows   int // since ctx was looked at
}

// CompareStates returns the inodes and names that may differ between an older state and a newer
// one.
func CompareStates(ctx context.Context, tx *sqlitefile.Rx, low, high *Rx) (*store.Differences, error) {
	c := comparer{ctx: ctx, rx: rowstore.Rx{Engine: tx}, low: low, high: high, wanted: make(map[store.Ino]bool), names: make(map[store.Ino][]store.EntryKey)}
	for _, step := range []func() error{c.young, c.nodes, c.data, c.xattrs, c.preservedNames, c.liveNames} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	d := &store.Differences{Chunks: slices.Compact(c.chunks), Names: c.names}
	for ino := range c.wanted {
		d.Nodes = append(d.Nodes, ino)
	}
	slices.Sort(d.Nodes)
	return d, nil
}

// alive looks at the context from time to time.
func (c *comparer) alive() error {
	if c.rows++; c.rows%1024 == 0 {
		return c.ctx.Err()
	}
	return nil
}

// between reports whether a row was kept for a state from the older one on and before the newer
// one.
func (c *comparer) between(until int64) bool { return c.low.ID <= until && until < c.high.ID }

// young finds the inodes that the newer state has and the older one has not.
func (c *comparer) young() error {
	node, err := c.rx.Engine.Table("node")
	if err != nil {
		return err
	}
	for row, err := range node.Range(int64(c.low.Next), int64(c.high.Next)-1) {
		if err == nil {
			err = c.alive()
		}
		if err != nil {
			return err
		}
		c.wanted[store.Ino(row.Rowid())] = true
	}
	return nil
}

// each calls fn with the first columns of all rows of a table, n of them.
func (c *comparer) each(table string, n int, fn func(v []sqlitefile.Value)) error {
	t, err := c.rx.Engine.Table(table)
	if err != nil {
		return err
	}
	v := make([]sqlitefile.Value, n)
	cursor := t.Cursor()
	ok, err := cursor.First()
	for ; ok && err == nil; ok, err = cursor.Next() {
		if err = cursor.ValuesUpTo(rowstore.MaxEntry, v); err == nil {
			fn(v)
			err = c.alive()
		}
		if err != nil {
			return err
		}
	}
	return err
}

func (c *comparer) nodes() error {
	return c.each("node_was", rowstore.NodeWasUntil+1, func(v []sqlitefile.Value) {
		if c.between(v[rowstore.NodeWasUntil].Int64()) {
			c.wanted[store.Ino(v[rowstore.NodeWasIno].Int64())] = true
		}
	})
}

func (c *comparer) data() error {
	return c.each("data_was", rowstore.DataWasUntil+1, func(v []sqlitefile.Value) {
		if id := v[rowstore.DataWasID].Int64(); c.between(v[rowstore.DataWasUntil].Int64()) {
			c.wanted[store.Ino(id>>store.ChunkBits)] = true
			c.chunks = append(c.chunks, id)
		}
	})
}

func (c *comparer) xattrs() error {
	return c.each("xattr_was", rowstore.XattrWasUntil+1, func(v []sqlitefile.Value) {
		if c.between(v[rowstore.XattrWasUntil].Int64()) {
			c.wanted[store.Ino(v[rowstore.XattrWasIno].Int64())] = true
		}
	})
}

// preservedNames adds the names that were changed since the older state. The inodes that they lead
// to in the two states are wanted.
func (c *comparer) preservedNames() error {
	var keys []store.EntryKey
	err := c.each("entry_was", rowstore.EntryWasUntil+1, func(v []sqlitefile.Value) {
		key := store.EntryKey{Dir: store.Ino(v[rowstore.EntryWasParent].Int64()), Name: string(v[rowstore.EntryWasName].Bytes())}
		if n := len(keys); v[rowstore.EntryWasUntil].Int64() >= c.low.ID && (n == 0 || keys[n-1] != key) {
			keys = append(keys, key)
		}
	})
	if err != nil {
		return err
	}
	for _, key := range keys {
		var found [2]store.Ino
		for i, state := range []*Rx{c.low, c.high} {
			var e store.Entry
			if err := state.ReadEntry(key.Dir, key.Name, &e); err == nil {
				found[i] = e.Ino
			} else if err := UnlessMissing(err); err != nil {
				return err
			}
		}
		for i, ino := range found {
			if ino != 0 {
				c.wanted[ino] = c.wanted[ino] || found[0] != found[1]
				if i == 0 || ino != found[0] {
					c.names[ino] = append(c.names[ino], key)
				}
			}
		}
	}
	for ino, wanted := range c.wanted {
		if !wanted {
			delete(c.wanted, ino)
		}
	}
	return nil
}

// liveNames adds the names of directories, and of the wanted inodes, as they are now.
func (c *comparer) liveNames() error {
	return c.each("entry", rowstore.EntryColumns, func(v []sqlitefile.Value) {
		ino := store.Ino(v[rowstore.EntryIno].Int64())
		if v[rowstore.EntryType].Int64() != int64(store.Dir) && !c.wanted[ino] {
			return
		}
		key := store.EntryKey{Dir: store.Ino(v[rowstore.EntryParent].Int64()), Name: string(v[rowstore.EntryName].Bytes())}
		if !slices.Contains(c.names[ino], key) {
			c.names[ino] = append(c.names[ino], key)
		}
	})
}

// UnlessMissing ignores the error of a row that does not exist.
func UnlessMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
