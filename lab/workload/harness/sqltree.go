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

// The statements of a tree, in the order of treeQueries.
const (
	putEntry = iota
	putContent
	findEntry
	listEntries
	readContent
	readRange
)

var entryColumns = []workload.Kind{workload.Text, workload.Integer, workload.Integer, workload.Integer, workload.Integer}

var treeQueries = [...]struct {
	query   string
	columns []workload.Kind
}{
	putEntry:    {"INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)", nil},
	putContent:  {"INSERT INTO content VALUES (?, CAST( ? AS BLOB))", nil}, // crawshaw binds bytes as a text; GORM takes "(?" with bytes for a list
	findEntry:   {"SELECT name, id, mode, size, mtime FROM entry WHERE dir = ? AND name = ?", entryColumns},
	listEntries: {"SELECT name, id, mode, size, mtime FROM entry WHERE dir = ? ORDER BY name", entryColumns},
	readContent: {"SELECT bytes FROM content WHERE id = ?", []workload.Kind{workload.Blob}},
	readRange:   {"SELECT substr(bytes, ?, ?) FROM content WHERE id = ?", []workload.Kind{workload.Blob}},
}

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
	stmts [len(treeQueries)]Stmt
	args  [6]workload.Value
}

func newSQLTreeStore(c Conn) (s *sqlTreeStore, err error) {
	s = &sqlTreeStore{conn: c}
	for i, q := range treeQueries {
		if s.stmts[i], err = c.Prepare(q.query, q.columns); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// close gives the statements back, but not the connection.
func (s *sqlTreeStore) close() (err error) {
	for _, stmt := range s.stmts {
		err = errors.Join(err, stmt.Close())
	}
	return err
}

// run runs a statement with arguments.
func (s *sqlTreeStore) run(stmt int, row func(workload.Row) error, args ...workload.Value) error {
	return s.stmts[stmt].Run(s.args[:copy(s.args[:], args)], row)
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
	err := s.run(putEntry, nil, workload.Str(dir), workload.Str(n.Base), workload.Int(n.ID), workload.Int(int64(n.Perm)), workload.Int(n.Bytes), workload.Int(n.Changed))
	if err != nil || n.IsDir() {
		return err
	}
	if content == nil {
		content = []byte{} // nil would be NULL
	}
	return s.run(putContent, nil, workload.Int(n.ID), workload.Bytes(content))
}

func node(r workload.Row) *Node {
	return &Node{Base: string(r.Bytes(0)), ID: r.Int(1), Perm: fs.FileMode(r.Int(2)), Bytes: r.Int(3), Changed: r.Int(4)}
}

func (s *sqlTreeStore) Find(dir, name string) (n *Node, err error) {
	err = s.run(findEntry, func(r workload.Row) error {
		n = node(r)
		return nil
	}, workload.Str(dir), workload.Str(name))
	return n, err
}

func (s *sqlTreeStore) List(dir string) (list []*Node, err error) {
	err = s.run(listEntries, func(r workload.Row) error {
		list = append(list, node(r))
		return nil
	}, workload.Str(dir))
	return list, err
}

func (s *sqlTreeStore) Content(n *Node) (data []byte, err error) {
	err = s.run(readContent, func(r workload.Row) error {
		data = append(make([]byte, 0, n.Bytes), r.Bytes(0)...)
		return nil
	}, workload.Int(n.ID))
	return data, err
}

func (s *sqlTreeStore) ReadAt(n *Node, p []byte, off int64) (read int, err error) {
	err = s.run(readRange, func(r workload.Row) error {
		read = copy(p, r.Bytes(0))
		return nil
	}, workload.Int(off+1), workload.Int(int64(len(p))), workload.Int(n.ID))
	return read, err
}
