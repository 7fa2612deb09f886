package repair

import (
	"iter"
	"math"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/check"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// WindowSize is check.WindowSize. A test sets it.
var WindowSize = check.WindowSize

// windows looks at all tables like survey, but at one window of inodes after the other, so that it
// takes little memory however many there are. Each window reads its rows of node, data, xattr and
// orphan, and all entries, as any of them may lead to its inodes.
func (c *checker) windows() error {
	inodes, err := c.count(rowstore.NodeTable)
	if err != nil {
		return err
	}
	size := WindowSize(inodes)
	for more := true; more; {
		c.Open(int(min(int64(size), inodes)))
		if more, err = c.windowNodes(size); err != nil {
			return err
		}
		if err := c.windowRows(); err != nil {
			return err
		}
		for _, ino := range c.wanted {
			c.Name(ino)
		}
	}
	c.Finish()
	return nil
}

// count returns how many rows a table has, as far as it can be read.
func (c *checker) count(table int) (n int64, err error) {
	t, err := c.tx.Table(rowstore.TableNames[table])
	if err != nil {
		return 0, nil // the first window says so
	}
	for _, err := range t.All() {
		if err != nil {
			break
		}
		n++
		if err := c.alive(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// windowNodes reads up to size inodes into the window. It reports whether there are more.
func (c *checker) windowNodes(size int) (more bool, err error) {
	t, err := c.tx.Table("node")
	if err != nil {
		return false, c.unreadable("node", err)
	}
	n, last := 0, int64(math.MinInt64)
	err = c.feed("node", t.Range(c.First(), math.MaxInt64), func(row *sqlitefile.Row) error {
		if n == size {
			more = true
			return errEnough
		}
		n, last = n+1, row.Rowid()
		return c.node(row)
	})
	if more {
		c.Close(last)
	}
	return more, err
}

// windowRows reads the rows that are about the inodes of the window.
func (c *checker) windowRows() error {
	byInode := func(t sqlitefile.Table) iter.Seq2[sqlitefile.Row, error] { return t.Range(c.First(), c.Last()) }
	steps := []struct {
		table string
		rows  func(t sqlitefile.Table) iter.Seq2[sqlitefile.Row, error]
		feed  func(row *sqlitefile.Row) error
	}{
		{"entry", sqlitefile.Table.All, c.entry}, {"origin", byInode, c.origin}, {"data", c.windowData, c.data}, {"xattr", c.windowXattrs, c.xattr}, {"orphan", byInode, c.orphan},
	}
	for _, step := range steps {
		if c.without(step.table) {
			continue
		}
		t, err := c.tx.Table(step.table)
		if err == nil {
			err = c.feed(step.table, step.rows(t), step.feed)
		} else {
			err = c.unreadable(step.table, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// windowData yields the data rows about the inodes of the window.
func (c *checker) windowData(t sqlitefile.Table) iter.Seq2[sqlitefile.Row, error] {
	const lowest, highest = math.MinInt64 >> store.ChunkBits, math.MaxInt64 >> store.ChunkBits
	first, last := max(c.First(), lowest), min(c.Last(), highest)
	if first > last {
		return func(func(sqlitefile.Row, error) bool) {}
	}
	return t.Range(first<<store.ChunkBits, last<<store.ChunkBits|(1<<store.ChunkBits-1))
}

// windowXattrs yields the attributes of the inodes of the window. Rows whose inode is not a number
// come in the last window.
func (c *checker) windowXattrs(t sqlitefile.Table) iter.Seq2[sqlitefile.Row, error] {
	return func(yield func(sqlitefile.Row, error) bool) {
		cursor := t.Cursor()
		start := cursor.First
		if c.First() != math.MinInt64 {
			start = func() (bool, error) { return cursor.SeekKey(c.First()) }
		}
		for ok, err := start(); ok || err != nil; ok, err = cursor.Next() {
			var row sqlitefile.Row
			if err == nil {
				row, err = cursor.Row()
			}
			if err == nil && c.behind(&row) || !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// behind reports whether an attribute belongs to a later window.
func (c *checker) behind(row *sqlitefile.Row) bool {
	if c.Last() == math.MaxInt64 {
		return false
	}
	kind, err := row.Kind(0)
	if err != nil || kind == sqlitefile.KindNull || kind >= sqlitefile.KindText {
		return err == nil && kind >= sqlitefile.KindText
	}
	ino, err := row.Value(0)
	return err == nil && ino.Int64() > c.Last()
}
