package repair

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// origin feeds a row of table origin, and the rows of the base that show.
func (c *checker) origin(row *sqlitefile.Row) error {
	ino := store.Ino(row.Rowid())
	o, err := rowstore.DecodeOrigin(row)
	if err == nil {
		err = c.base(ino, o)
	}
	if errors.Is(err, store.ErrDamaged) {
		c.Damaged(ino, err)
		return nil
	}
	if err != nil {
		return err
	}
	if dead, err := c.isDead(ino); err != nil || dead {
		return err
	}
	c.Clone(ino, o.Chunks)
	data, err := c.tx.Table("data")
	if err != nil {
		return err
	}
	for shown, err := range (rowstore.Rx{Engine: c.tx}).BaseChunks(o, ino, 0) {
		if err != nil {
			return err
		}
		if err := c.alive(); err != nil {
			return err
		}
		_, own, err := data.Get(shown.ID)
		if err != nil {
			return err
		}
		if !own {
			c.Shown(shown.ID, shown.Size)
		}
	}
	return nil
}

// isDead reports whether SQL has removed the inode of a clone: the rest is removed with the
// orphans.
func (c *checker) isDead(ino store.Ino) (bool, error) {
	node, err := c.tx.Table("node")
	if err != nil {
		return false, err
	}
	if _, ok, err := node.Get(int64(ino)); err != nil || ok {
		return false, err
	}
	orphan, err := c.tx.Table("orphan")
	if err != nil {
		return false, err
	}
	_, ok, err := orphan.Get(int64(ino))
	return ok, err
}

// base looks at the base of a clone (C5).
func (c *checker) base(ino store.Ino, o rowstore.Origin) error {
	node, err := c.tx.Table("node")
	if err != nil {
		return err
	}
	row, ok, err := node.Get(int64(o.Base))
	if err != nil {
		return err
	}
	if !ok {
		return store.Damaged("inode %d shares content with inode %d, which does not exist", ino, o.Base)
	}
	var v [rowstore.NodeColumns]sqlitefile.Value
	if err := row.ValuesUpTo(rowstore.MaxNumber, v[:]); err != nil {
		return err
	}
	if mode := uint32(v[rowstore.NodeMode].Int64()); store.TypeOf(mode) != store.File {
		return store.Damaged("inode %d shares content with inode %d, which is of type %d", ino, o.Base, store.TypeOf(mode))
	}
	origins, err := c.tx.Table("origin")
	if err != nil {
		return err
	}
	if _, ok, err := origins.Get(int64(o.Base)); err != nil || ok {
		if err == nil {
			err = store.Damaged("inode %d shares content with inode %d, which itself shares it with another one", ino, o.Base)
		}
		return err
	}
	return nil
}

// described reports triggers that are missing, and a version that the tables contradict (C6).
func (c *checker) described() error {
	snapshots, err := rowstore.HasHistory(c.tx)
	if errors.Is(err, store.ErrDamaged) {
		return nil // history says so
	}
	if err != nil {
		return err
	}
	clones := rowstore.Rx{Engine: c.tx}.HasClones()
	objects, err := c.tx.Objects()
	if err != nil {
		return err
	}
	for _, sql := range store.Triggers(snapshots, clones) {
		if !slices.ContainsFunc(objects, func(o sqlitefile.Object) bool { return o.SQL == sql }) {
			c.report.Add(store.Problem{What: fmt.Sprintf("a trigger is missing by which changes through SQL keep what snapshots and clones need: %.60q", sql)})
		}
	}
	if !clones && slices.ContainsFunc(objects, func(o sqlitefile.Object) bool { return o.SQL == store.CloneTables[0] }) {
		c.report.Add(store.Problem{What: fmt.Sprintf("there is table origin, by which files share content, but user_version is not %d", store.CloneVersion)})
	}
	return nil
}

// views reports views, and triggers on them, that are missing or differ from the format. It leaves
// the schema to schema if SQLite cannot read that.
func (c *checker) views() error {
	rows, err := findMalformed(c.tx)
	if err != nil || slices.ContainsFunc(rows, func(m malformed) bool { return !m.parsed }) {
		return err
	}
	found, _, err := compareViews(c.tx)
	if errors.Is(err, store.ErrDamaged) {
		return nil // history says so
	}
	for _, what := range found {
		c.report.Add(store.Problem{What: what})
	}
	return err
}
