package source

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/foliofs/folio/sqlitefile"
)

// A litefsSource is a database of LiteFS, the Go package go.husin.dev/litefs of 2022:
//
//	litefs_entry(id, parent_id, name, modtime, content)
//
// A parent_id of NULL means the root, which has no row, a content of NULL a directory, and modtime
// is a time as RFC 3339 writes it. There are no modes, owners and links.
type litefsSource struct {
	db *sqlitefile.DB
	o  *Options
}

// The tables of LiteFS. The second one names the versions of the schema, of which there is one.
const (
	litefsEntries    = "litefs_entry"
	litefsMigrations = "schema_migrations"
)

var litefsColumns = []string{"id", "parent_id", "name", "modtime", "content"}

// The modes that the files of LiteFS get, which has none.
const (
	LitefsFileMode = 0o644
	LitefsDirMode  = fs.ModeDir | 0o755
)

func (s *litefsSource) OnDisk() bool { return false }

func (s *litefsSource) Size(context.Context) (int64, bool) { return 0, false }

func (s *litefsSource) Close() error { return s.db.Close() }

func (s *litefsSource) Walk(ctx context.Context, fn func(*Entry) error) error {
	return run(ctx, s.o, false, func(p *pipeline) error {
		return s.db.View(p.ctx, func(rx *sqlitefile.Rx) error {
			if err := checkDatabase(p.ctx, rx); err != nil {
				return err
			}
			return (&litefsProducer{pipeline: p, rx: rx}).walk()
		})
	}, fn)
}

// A litefsRow is a row of litefs_entry, without its time and its content.
type litefsRow struct {
	name     string
	rowid    int64
	dir      bool
	found    bool // from the root on
	children []int
}

// A litefsProducer goes through the tree from its root, in the order of the names.
type litefsProducer struct {
	*pipeline
	rx    *sqlitefile.Rx
	table sqlitefile.Table
	place [5]int
	rows  []litefsRow
	root  []int // rows in the root
	paths joiner
	times int // that do not parse
}

func (l *litefsProducer) walk() (err error) {
	if l.table, l.place, err = tableWith(l.rx, litefsEntries, litefsColumns); err != nil {
		return err
	}
	parents, err := l.read()
	if err != nil {
		return err
	}
	if err := l.connect(parents); err != nil {
		return err
	}
	if err := l.dir(&place{}, l.root); err != nil {
		return err
	}
	if i := slices.IndexFunc(l.rows, func(r litefsRow) bool { return !r.found }); i >= 0 {
		return WrapEntry(l.rows[i].name, ErrNoParent)
	}
	return l.warn()
}

// A litefsKey is an id and a parent_id.
type litefsKey struct {
	id, parent string
	top        bool // parent_id is NULL
}

// read reads the rows, and returns the keys of each.
func (l *litefsProducer) read() (keys []litefsKey, err error) {
	for row, err := range l.table.All() {
		if err != nil {
			return nil, err
		}
		r, k := litefsRow{rowid: row.Rowid()}, litefsKey{}
		if r.name, err = l.text(&row, 2); err == nil {
			k.id, err = l.text(&row, 0)
		}
		if err == nil {
			k.parent, k.top, err = l.parent(&row)
		}
		if err == nil {
			r.dir, err = l.isDir(&row)
		}
		if err != nil {
			return nil, WrapEntry(r.name, err)
		}
		l.rows, keys = append(l.rows, r), append(keys, k)
	}
	return keys, nil
}

// text returns a column that must be a text.
func (l *litefsProducer) text(row *sqlitefile.Row, column int) (string, error) {
	kind, err := row.Kind(l.place[column])
	if err == nil && kind != sqlitefile.KindText {
		err = fmt.Errorf("%w: %s is no text", ErrDamaged, litefsColumns[column])
	}
	if err == nil {
		err = short(row, l.place[column])
	}
	if err != nil {
		return "", err
	}
	return row.Text(l.place[column])
}

// parent returns the parent_id. top reports whether it is NULL.
func (l *litefsProducer) parent(row *sqlitefile.Row) (id string, top bool, err error) {
	kind, err := row.Kind(l.place[1])
	if err == nil && kind != sqlitefile.KindNull {
		id, err = l.text(row, 1)
	}
	return id, kind == sqlitefile.KindNull, err
}

// isDir reports whether a row is a directory. LiteFS takes a text for the content of a file, too.
func (l *litefsProducer) isDir(row *sqlitefile.Row) (bool, error) {
	kind, err := row.Kind(l.place[4])
	switch {
	case err != nil:
	case kind == sqlitefile.KindNull:
		return true, nil
	case kind != sqlitefile.KindBlob && kind != sqlitefile.KindText:
		err = fmt.Errorf("%w: content is a number", ErrDamaged)
	case kind == sqlitefile.KindText && l.rx.Info().Encoding != "UTF-8":
		err = fmt.Errorf("%w: content is a text in UTF-16", ErrDamaged)
	}
	return false, err
}

// connect finds the children of each row, sorted by name. A row whose parent is missing belongs to
// none. An empty parent_id means the root, unless a row has that id: LiteFS writes it for files in
// the root, as far as foreign keys are off.
func (l *litefsProducer) connect(keys []litefsKey) error {
	rows := make(map[string]int, len(keys))
	for i, k := range keys {
		if _, ok := rows[k.id]; ok {
			return WrapEntry(l.rows[i].name, fmt.Errorf("%w: two entries have the id %q", ErrDamaged, k.id))
		}
		rows[k.id] = i
	}
	for i, k := range keys {
		if at, ok := rows[k.parent]; ok && !k.top {
			l.rows[at].children = append(l.rows[at].children, i)
		} else if k.parent == "" { // or NULL
			l.root = append(l.root, i)
		}
	}
	byName := func(a, b int) int { return strings.Compare(l.rows[a].name, l.rows[b].name) }
	slices.SortFunc(l.root, byName)
	for i := range l.rows {
		slices.SortFunc(l.rows[i].children, byName)
	}
	return nil
}

// dir adds what is in a directory.
func (l *litefsProducer) dir(at *place, children []int) error {
	for n, i := range children {
		r := &l.rows[i]
		err := checkElement(at, r.name)
		if err == nil && n > 0 && l.rows[children[n-1]].name == r.name {
			err = ErrDuplicate
		}
		if err == nil {
			err = l.entry(at, r)
		}
		if err != nil {
			return at.wrap(r.name, err)
		}
	}
	return nil
}

func (l *litefsProducer) entry(dir *place, r *litefsRow) error {
	r.found = true
	row, ok, err := l.table.Get(r.rowid)
	if err == nil && !ok {
		err = ErrDamaged
	}
	if err != nil {
		return err
	}
	e := &Entry{Header: header(l.paths.join(dir, r.name))}
	e.UID, e.GID = own()
	if e.ModTime, err = l.modTime(&row); err != nil {
		return err
	}
	if !r.dir {
		if len(r.children) > 0 {
			return dir.below(r.name).wrap(l.rows[r.children[0]].name, ErrParent)
		}
		e.Mode = LitefsFileMode
		return l.file(e, &row)
	}
	e.Mode = LitefsDirMode
	if err := l.add(e, nil); err != nil {
		return err
	}
	return l.dir(dir.below(r.name), r.children)
}

// modTime returns the time of a row. One that does not parse is the beginning of 1970, as in
// LiteFS.
func (l *litefsProducer) modTime(row *sqlitefile.Row) (time.Time, error) {
	text, err := l.text(row, 3)
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		l.times++
		return time.Unix(0, 0), nil
	}
	return t, nil
}

// file adds a file, and reads its content here, since only this goroutine may use the transaction.
func (l *litefsProducer) file(e *Entry, row *sqlitefile.Row) (err error) {
	if e.Size, err = row.Size(l.place[4]); err != nil {
		return err
	}
	in := io.NewSectionReader(columnReader{row, l.place[4]}, 0, e.Size)
	if e.Size <= smallSize {
		j, err := l.next(e, int(e.Size))
		if err != nil {
			return err
		}
		j.err = readExactly(in, j.data)
		return l.flushFull()
	}
	out := newStream(l.ctx)
	if err := l.addFed(e, out); err != nil {
		return err
	}
	err = out.readFrom(in, e.Size)
	out.close(err)
	return err
}

// warn tells about what the volume does not get.
func (l *litefsProducer) warn() error {
	if l.times > 0 {
		l.o.warn(litefsColumns[3], fmt.Sprintf("times that do not parse, %d in all", l.times))
	}
	objects, err := l.rx.Objects()
	if err != nil {
		return err
	}
	for _, o := range objects {
		if o.Type != "table" || o.Name == litefsEntries || o.Name == litefsMigrations || strings.HasPrefix(o.Name, "sqlite_") {
			continue
		}
		if table, err := l.rx.Table(o.Name); err == nil {
			if some, err := table.Cursor().First(); err != nil || !some {
				continue
			}
		}
		l.o.warn(o.Name, "a table that is not of LiteFS")
	}
	return nil
}
