package harness

import (
	"errors"
	"io/fs"

	"github.com/foliofs/folio/lab/workload"
)

// treeSchema keeps names, which are listed, apart from contents, which are not.
var treeSchema = []string{
	"CREATE TABLE entry (dir TEXT, name TEXT, id INTEGER, mode INTEGER, size INTEGER, mtime INTEGER, PRIMARY KEY (dir, name)) WITHOUT ROWID",
	"CREATE TABLE content (id INTEGER PRIMARY KEY, bytes BLOB)",
}

const (
	insertEntry   = "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)"
	insertContent = "INSERT INTO content VALUES (?, CAST( ? AS BLOB))" // crawshaw binds bytes as a text; GORM takes "(?" with bytes for a list
	findEntry     = "SELECT name, id, mode, size, mtime FROM entry WHERE dir = ? AND name = ?"
	listEntries   = "SELECT name, id, mode, size, mtime FROM entry WHERE dir = ? ORDER BY name"
	readContent   = "SELECT bytes FROM content WHERE id = ?"
	readRange     = "SELECT substr(bytes, ?, ?) FROM content WHERE id = ?"
)

var entryColumns = []workload.Kind{workload.Text, workload.Integer, workload.Integer, workload.Integer, workload.Integer}

// sqlTree is a database of files.
type sqlTree struct {
	*sqlStore
	stores []*sqlTreeStore
}

func (d Driver) tree(j *workload.Job) (workload.Tree, error) {
	s, err := d.newStore(j, treeSchema)
	return &sqlTree{sqlStore: s}, err
}

func (t *sqlTree) Settings() (map[string]string, error) { return readSettings(t.first) }

func (t *sqlTree) Import(src fs.FS) error {
	s, err := newSQLTreeStore(t.first)
	if err != nil {
		return err
	}
	return errors.Join(ImportTree(s, src), s.close())
}

func (t *sqlTree) FS() (fs.FS, error) {
	c, err := t.open()
	if err != nil {
		return nil, err
	}
	s, err := newSQLTreeStore(c)
	if err != nil {
		return nil, err
	}
	t.stores = append(t.stores, s)
	return StoreFS(s), nil
}

func (t *sqlTree) Close() error {
	var errs []error
	for _, s := range t.stores {
		errs = append(errs, s.close(), s.conn.Close())
	}
	return errors.Join(append(errs, t.sqlStore.Close())...)
}

// A sqlTreeStore is a connection with its statements.
type sqlTreeStore struct {
	conn  Conn
	stmts struct{ putEntry, putContent, find, list, content, part Stmt }
	args  [6]workload.Value
}

func newSQLTreeStore(c Conn) (*sqlTreeStore, error) {
	s := &sqlTreeStore{conn: c}
	for _, p := range []struct {
		stmt    *Stmt
		query   string
		columns []workload.Kind
	}{
		{&s.stmts.putEntry, insertEntry, nil},
		{&s.stmts.putContent, insertContent, nil},
		{&s.stmts.find, findEntry, entryColumns},
		{&s.stmts.list, listEntries, entryColumns},
		{&s.stmts.content, readContent, []workload.Kind{workload.Blob}},
		{&s.stmts.part, readRange, []workload.Kind{workload.Blob}},
	} {
		var err error
		if *p.stmt, err = c.Prepare(p.query, p.columns); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// close gives the statements back, but not the connection.
func (s *sqlTreeStore) close() error {
	all := &s.stmts
	return closeAll(all.putEntry, all.putContent, all.find, all.list, all.content, all.part)
}

func (s *sqlTreeStore) Import(fn func(put func(dir string, n *Node, content []byte) error) error) error {
	if err := exec(s.conn, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := fn(s.put); err != nil {
		return errors.Join(err, exec(s.conn, "ROLLBACK"))
	}
	return exec(s.conn, "COMMIT")
}

func (s *sqlTreeStore) put(dir string, n *Node, content []byte) error {
	s.args = [6]workload.Value{workload.Str(dir), workload.Str(n.Base), workload.Int(n.ID), workload.Int(int64(n.Perm)), workload.Int(n.Bytes), workload.Int(n.Changed)}
	if err := s.stmts.putEntry.Run(s.args[:], nil); err != nil || n.IsDir() {
		return err
	}
	if content == nil {
		content = []byte{} // nil would be NULL
	}
	s.args[0], s.args[1] = workload.Int(n.ID), workload.Bytes(content)
	return s.stmts.putContent.Run(s.args[:2], nil)
}

func node(r workload.Row) *Node {
	return &Node{Base: string(r.Bytes(0)), ID: r.Int(1), Perm: fs.FileMode(r.Int(2)), Bytes: r.Int(3), Changed: r.Int(4)}
}

func (s *sqlTreeStore) Find(dir, name string) (n *Node, err error) {
	s.args[0], s.args[1] = workload.Str(dir), workload.Str(name)
	err = s.stmts.find.Run(s.args[:2], func(r workload.Row) error {
		n = node(r)
		return nil
	})
	return n, err
}

func (s *sqlTreeStore) List(dir string) (list []*Node, err error) {
	s.args[0] = workload.Str(dir)
	err = s.stmts.list.Run(s.args[:1], func(r workload.Row) error {
		list = append(list, node(r))
		return nil
	})
	return list, err
}

func (s *sqlTreeStore) Content(n *Node) (data []byte, err error) {
	s.args[0] = workload.Int(n.ID)
	err = s.stmts.content.Run(s.args[:1], func(r workload.Row) error {
		data = append(make([]byte, 0, n.Bytes), r.Bytes(0)...)
		return nil
	})
	return data, err
}

func (s *sqlTreeStore) ReadAt(n *Node, p []byte, off int64) (read int, err error) {
	s.args[0], s.args[1], s.args[2] = workload.Int(off+1), workload.Int(int64(len(p))), workload.Int(n.ID)
	err = s.stmts.part.Run(s.args[:3], func(r workload.Row) error {
		read = copy(p, r.Bytes(0))
		return nil
	})
	return read, err
}
