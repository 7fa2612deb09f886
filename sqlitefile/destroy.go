package sqlitefile

import (
	"github.com/foliofs/folio/internal/format"

	"github.com/foliofs/folio/internal/btree"
)

// destroy releases all pages of a b-tree. In a database with pointer maps the root of another tree
// may take the place of its own.
func (c *schemaChange) destroy(root uint32, table bool) error {
	w := c.tx.pages.Pages()
	t := btree.NewIndex(w, c.tx.writeState().ws, root, nil, 0)
	if table {
		if t = btree.NewTable(w, c.tx.writeState().ws, root); c.isKeyed(root) {
			t = btree.NewIndex(w, c.tx.writeState().ws, root, nil, 0)
		}
	}
	if err := t.Destroy(); err != nil {
		return err
	}
	moved, err := c.tx.pages.Freelist().DropRoot(root)
	if err != nil || moved == 0 {
		return err
	}
	return c.rename(moved, root)
}

// isKeyed reports whether a root is that of a table WITHOUT ROWID.
func (c *schemaChange) isKeyed(root uint32) bool {
	page, err := c.tx.pages.Pages().Page(root)
	return err == nil && format.PageKind(page[0]).Valid() && !format.PageKind(page[0]).Table()
}
