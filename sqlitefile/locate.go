package sqlitefile

// Get returns the row with the given rowid, as [Table.Get] does. A following Update, Set or Delete
// of this row, or of a neighbor, reuses the position found. Get never writes pages to the log: rows
// that were read before stay valid until something changes.
func (t TableWriter) Get(rowid int64) (row Row, ok bool, err error) {
	if t.def.Key != nil || !t.current() {
		return t.Table.Get(rowid)
	}
	tree := t.state.tree
	if ok, err = tree.SeekRow(rowid); err != nil || !ok {
		return row, false, err
	}
	n, err := tree.Node(tree.Steps[tree.Depth].Pgno)
	if err == nil {
		err = t.tx.tableRow(&row, &n, tree.Steps[tree.Depth].Cell, &t.def.shape)
	}
	return row, err == nil, err
}

// Find returns the row with the given key, as [Table.Find] does. A following PutKey or DeleteKey of
// the same key reuses the position found.
func (t TableWriter) Find(key ...any) (row Row, ok bool, err error) {
	if t.def.Key == nil || len(key) < len(t.def.Key) || !t.current() {
		return t.Table.Find(key...) // the first one of several, perhaps
	}
	tree := t.state.tree
	if tree.Key, err = t.tx.makeKey(tree.Key.Values[:0], t.Name(), t.def.Key, key); err != nil {
		return row, false, err
	}
	ok, err = tree.Seek()
	if tree.Fresh = err == nil; err != nil || !ok {
		return row, false, err
	}
	n, err := tree.Node(tree.Steps[tree.Depth].Pgno)
	if err == nil {
		err = t.tx.indexRow(&row, &n, tree.Steps[tree.Depth].Cell, &t.def.shape)
	}
	return row, err == nil, err
}
