package sqlitefile

import "fmt"

// ReplaceObject writes the i-th row of sqlite_schema, as Objects counts them. It is what an UPDATE
// of sqlite_schema is in SQLite after PRAGMA writable_schema: it changes the description that the
// database has of its tables and nothing in them, and is for the repair of a damaged text.
func (tx *Tx) ReplaceObject(i int, o Object) error {
	if tx.pager.Over {
		return tx.db.pager.PathError("replace object", ErrClosed)
	}
	return tx.db.pager.PathError("replace object", tx.Nested(func(tx *Tx) error {
		c, err := tx.changeSchema()
		if err != nil {
			return err
		}
		if i < 0 || i >= len(c.rows) {
			return fmt.Errorf("sqlite_schema has %d rows, and no row %d", len(c.rows), i)
		}
		r := &c.rows[i]
		r.Object = o
		if err := c.load(r.rowid, &r.Object); err != nil {
			return err
		}
		if _, err := c.tree.ReplaceRow(r.rowid, c.record); err != nil {
			return c.spoil(err)
		}
		return c.commit()
	}))
}
