package pgstore

import "github.com/foliofs/folio/internal/store"

var (
	_ store.Cloner     = (*tx)(nil)
	_ store.TreeCloner = (*tx)(nil)
)

// CloneContent implements store.Cloner. The server copies the content.
func (t *tx) CloneContent(from *store.Node, to store.Ino) error {
	if from.Size == from.Holes {
		return nil
	}
	err := t.send()
	if err == nil {
		err = t.ask(do(cloneContent, int64(from.Ino), int64(to)))
	}
	if err != nil {
		return t.fail(err)
	}
	return nil
}

// CloneTree implements store.TreeCloner, by one statement.
func (t *tx) CloneTree(from store.Ino, ctime int64) (store.Ino, error) {
	if err := t.send(); err != nil {
		return 0, t.fail(err)
	}
	var to, missing, twice int64
	err := t.ask(step{statement: setHashJoin, args: []any{"on"}, row: ignore}, step{
		statement: cloneTree, args: []any{int64(from), ctime},
		row: func(v [][]byte) { to, missing, twice = number(v[0]), number(v[1]), number(v[2]) },
	}, step{statement: setHashJoin, args: []any{"off"}, row: ignore})
	switch {
	case err != nil:
	case twice > 0:
		err = store.Damaged("%d directories below inode %d have two names", twice, from)
	case missing > 0 || to == 0:
		err = store.Damaged("%d entries below inode %d lead to no inode", missing, from)
	default:
		return store.Ino(to), nil
	}
	return 0, t.fail(err)
}
