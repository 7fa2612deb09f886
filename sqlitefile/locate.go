package sqlitefile

// Get is that of Table. What is done next with this row, or with one that belongs beside it, need not look for it again. It does not spill: what
// was read before stays valid until something changes.
func (t TableWriter) Get(rowid int64) (row Row, ok bool, err error) {
	if t.def.key != nil || !t.current() {
		return t.Table.Get(rowid)
	}
	tree := t.state.tree
	if ok, err = tree.seekRow(rowid); err != nil || !ok {
		return row, false, err
	}
	n, err := tree.node(tree.path[tree.depth].pgno)
	if err == nil {
		err = t.tx.tableRow(&row, &n, tree.path[tree.depth].i, &t.def.shape)
	}
	return row, err == nil, err
}

// Find is that of Table. If what is done next is about the same key, it need not be looked for again.
func (t TableWriter) Find(key ...any) (row Row, ok bool, err error) {
	if t.def.key == nil || len(key) < len(t.def.key) || !t.current() {
		return t.Table.Find(key...) // the first one of several, perhaps
	}
	tree := t.state.tree
	if tree.key, err = t.tx.makeKey(tree.key.values[:0], t.Name(), t.def.key, key); err != nil {
		return row, false, err
	}
	ok, err = tree.seek()
	if tree.fresh = err == nil; err != nil || !ok {
		return row, false, err
	}
	n, err := tree.node(tree.path[tree.depth].pgno)
	if err == nil {
		err = t.tx.indexRow(&row, &n, tree.path[tree.depth].i, &t.def.shape)
	}
	return row, err == nil, err
}
