package btree

// Overwrite writes p into the payload of the row that was found, off bytes from its start. It is
// within the payload.
func (t *Tree) Overwrite(p []byte, off int) error {
	leaf := t.Steps[t.Depth]
	n, err := t.Node(leaf.Pgno)
	if err != nil {
		return err
	}
	c, err := t.Cell(&n, leaf.Cell)
	if err != nil {
		return err
	}
	local := len(c.Local)
	if off >= local {
		return t.overwriteChain(c.Overflow, p, off-local)
	}
	if n, err = t.edit(leaf.Pgno); err != nil {
		return err
	}
	if c, err = t.Cell(&n, leaf.Cell); err != nil {
		return err
	}
	done := copy(c.Local[off:], p)
	return t.overwriteChain(c.Overflow, p[done:], 0)
}

// overwriteChain writes p into a chain of overflow pages, off bytes from its start.
func (t *Tree) overwriteChain(pgno uint32, p []byte, off int) error {
	room := t.Ws.usable - 4
	for len(p) > 0 {
		if err := t.checkChain(pgno); err != nil {
			return err
		}
		page, err := t.store.Page(pgno)
		if err != nil {
			return err
		}
		if off >= room {
			off -= room
		} else {
			if page, err = t.writable(pgno); err != nil {
				return err
			}
			p = p[copy(page[4+off:], p):]
			off = 0
		}
		pgno = Be32(page)
	}
	return nil
}
