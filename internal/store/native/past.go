package native

import (
	"errors"
	"io"
	"io/fs"
	"sync"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// A past is a read transaction that reads the volume as a snapshot sees it (H1, H2). It implements
// store.Rx.
//
// Transactions of a pastStore are short and many. So each uses the memory of an earlier one, from
// the pool home.
type past struct {
	rx
	at   int64 // the snapshot
	next store.Ino
	home *sync.Pool // nil if it is part of another transaction, which ends it
	live store.Ino  // the last inode that was found unchanged: nothing was kept of it (H6)

	nodes, entries, data tableCursor // in the tables of kept rows
	now                  tableCursor // in table entry
}

// pastVersion is the version of all transactions of a pastStore.
const pastVersion = 1

// Version implements store.Rx. It is 0 in a part of another transaction.
func (r *past) Version() uint64 {
	if r.home == nil {
		return 0
	}
	return pastVersion
}

// End implements store.Rx.
func (r *past) End() {
	if r.home == nil {
		return
	}
	tx := r.tx
	r.tx, r.live = nil, 0
	for _, c := range []*tableCursor{&r.nodes, &r.entries, &r.data, &r.now} {
		c.set = false
	}
	r.home.Put(r)
	tx.End()
}

// A tableCursor is a cursor in one table.
type tableCursor struct {
	c   sqlitefile.Cursor
	set bool // in this transaction
}

// cursor returns the cursor of c, which is one in a table.
func (r *past) cursor(c *tableCursor, table string) (*sqlitefile.Cursor, error) {
	if !c.set {
		t, err := r.tx.Table(table)
		if err != nil {
			return nil, err
		}
		c.c.Reset(t)
		c.set = true
	}
	return &c.c, nil
}

// guard is the engine's guard around fn.
func (r *past) guard(fn func() error) error { return r.tx.Guard(fn) }

// Node implements store.Rx.
func (r *past) Node(ino store.Ino) (n store.Node, err error) {
	err = r.guard(func() error { return r.node(ino, &n) })
	return n, err
}

func (r *past) node(ino store.Ino, n *store.Node) error {
	if ino >= r.next || !ino.Valid() {
		return fs.ErrNotExist
	}
	c, err := r.cursor(&r.nodes, "node_was")
	if err != nil {
		return err
	}
	ok, err := c.SeekKey(int64(ino), r.at)
	if err != nil {
		return err
	}
	if ok {
		var key [1]sqlitefile.Value
		if err := c.ValuesUpTo(maxNumber, key[:]); err != nil {
			return err
		}
		if store.Ino(key[nodeWasIno].Int64()) == ino {
			return r.was(ino, c, n)
		}
	}
	if err := r.rx.node(ino, n); err != nil {
		return err
	}
	if n.Nlink == 0 { // it was an orphan by then
		return fs.ErrNotExist
	}
	r.live = ino
	return nil
}

var _ store.PastRx = (*past)(nil)

// Unchanged implements store.PastRx (H6).
func (r *past) Unchanged(ino store.Ino) (bool, error) {
	if r.live == ino {
		return true, nil
	}
	_, err := r.Node(ino)
	return r.live == ino, err
}

// was decodes the kept inode at a cursor in table node_was.
func (r *past) was(ino store.Ino, c *sqlitefile.Cursor, n *store.Node) error {
	var v [nodeWasColumns]sqlitefile.Value
	if err := c.ValuesUpTo(maxNumber, v[:]); err != nil {
		return err
	}
	raw, odd := nodeRow((*[nodeColumns]sqlitefile.Value)(v[nodeWasUntil:]))
	var fit bool
	if *n, fit = raw.Node(ino); !fit || odd {
		return store.Damaged("inode %d was kept with a number that no inode can have", ino)
	}
	return r.fits(n)
}

// Lookup implements store.Rx.
func (r *past) Lookup(dir store.Ino, name string) (e store.Entry, err error) {
	err = r.guard(func() error { return r.lookup(dir, name, &e) })
	return e, err
}

func (r *past) lookup(dir store.Ino, name string, e *store.Entry) error {
	if dir >= r.next || !store.ValidName(name) {
		return fs.ErrNotExist
	}
	c, err := r.cursor(&r.entries, "entry_was")
	if err != nil {
		return err
	}
	ok, err := c.SeekKey(int64(dir), name, r.at)
	if err != nil {
		return err
	}
	if ok {
		var key [entryWasName + 1]sqlitefile.Value
		if err := c.ValuesUpTo(maxEntry, key[:]); err != nil {
			return err
		}
		if store.Ino(key[entryWasParent].Int64()) == dir && string(key[entryWasName].Bytes()) == name {
			was, err := keptEntryAt(c)
			if err != nil {
				return err
			}
			*e = store.Entry{Name: name, Ino: was.ino, Type: was.typ}
			return r.visible(was.ino)
		}
	}
	if err := r.rx.lookup(dir, name, e); err != nil {
		return err
	}
	return r.visible(e.Ino)
}

// visible returns fs.ErrNotExist for the inode of an entry that the snapshot does not see.
func (r *past) visible(ino store.Ino) error {
	if ino == 0 || ino >= r.next {
		return fs.ErrNotExist
	}
	return nil
}

// A keptEntry is a row of table entry_was. Its name points into the database.
type keptEntry struct {
	rawEntry
	until int64
}

// keptEntryAt decodes the row at a cursor in table entry_was. Its ino is 0 if there was no entry.
func keptEntryAt(c *sqlitefile.Cursor) (e keptEntry, err error) {
	var v [entryWasColumns]sqlitefile.Value
	if err := c.ValuesUpTo(maxEntry, v[:]); err != nil {
		return e, err
	}
	return decodeKeptEntry(&v)
}

func decodeKeptEntry(v *[entryWasColumns]sqlitefile.Value) (e keptEntry, err error) {
	e.until = v[entryWasUntil].Int64()
	e.parent, e.name = store.Ino(v[entryWasParent].Int64()), v[entryWasName].Bytes()
	entry := [entryColumns]sqlitefile.Value{v[entryWasParent], v[entryWasName], v[entryWasIno], v[entryWasType]}
	switch {
	case v[entryWasIno].Kind() != sqlitefile.KindInteger || v[entryWasIno].Int64() != 0:
		return e, e.from(&entry)
	case !rightKinds(&entry):
		return e, store.Damaged("an entry of inode %d that was not there was kept with a value of another kind: %.1000q", e.parent, e.name)
	}
	return e, nil
}

// List implements store.Rx.
func (r *past) List(dir store.Ino, after string, max int, l *store.Listing) error {
	return r.guard(func() error { return r.list(dir, after, max, l) })
}

// list merges the live entries of a directory with the kept ones, if there are any.
func (r *past) list(dir store.Ino, after string, max int, l *store.Listing) error {
	if dir >= r.next {
		return nil
	}
	was, err := r.keptEntries(dir, after)
	if err != nil {
		return err
	}
	c, err := r.cursor(&r.now, "entry")
	if err != nil {
		return err
	}
	if !was.ok {
		return listEntries(c, dir, after, max, r.next, l)
	}
	now, err := liveEntriesOf(c, dir, after)
	if err != nil {
		return err
	}
	for n := 0; (now.ok || was.ok) && (max <= 0 || n < max); {
		e, kept := &now.e, false
		if was.ok && (!now.ok || string(was.e.name) <= string(now.e.name)) {
			e, kept = &was.e.rawEntry, true
		}
		if e.ino != 0 && e.ino < r.next {
			if !store.ValidName(e.name) {
				return store.Damaged("inode %d has an entry with an impossible name: %.1000q", dir, e.name)
			}
			l.Add(e.name, e.ino, e.typ)
			n++
		}
		if now.ok && (!kept || string(now.e.name) == string(e.name)) {
			if err := now.next(); err != nil {
				return err
			}
		}
		if kept {
			if err := was.next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// A liveEntries is a place among the live entries of a directory.
type liveEntries struct {
	c   *sqlitefile.Cursor
	dir store.Ino
	e   rawEntry
	ok  bool // there is an entry, e
}

// liveEntriesOf begins at the first live entry behind a name.
func liveEntriesOf(c *sqlitefile.Cursor, dir store.Ino, after string) (p liveEntries, err error) {
	p = liveEntries{c: c, dir: dir}
	if p.ok, err = p.c.SeekKey(int64(dir), after); err == nil {
		err = p.decode()
	}
	if err == nil && p.ok && after != "" && string(p.e.name) == after {
		err = p.next()
	}
	return p, err
}

func (p *liveEntries) next() (err error) {
	if p.ok, err = p.c.Next(); err != nil {
		return err
	}
	return p.decode()
}

// decode decodes the entry at the cursor.
func (p *liveEntries) decode() error {
	if !p.ok {
		return nil
	}
	var v [entryColumns]sqlitefile.Value
	if err := p.c.ValuesUpTo(maxEntry, v[:]); err != nil {
		return err
	}
	if store.Ino(v[entryParent].Int64()) != p.dir {
		p.ok = false
		return nil
	}
	return p.e.from(&v)
}

// A keptEntries is a place among the kept entries of a directory that the snapshot sees.
type keptEntries struct {
	c   *sqlitefile.Cursor
	dir store.Ino
	at  int64
	e   keptEntry
	ok  bool // there is an entry, e
}

// keptEntries begins at the first kept entry behind a name.
func (r *past) keptEntries(dir store.Ino, after string) (p keptEntries, err error) {
	c, err := r.cursor(&r.entries, "entry_was")
	if err != nil {
		return p, err
	}
	p = keptEntries{c: c, dir: dir, at: r.at}
	if p.ok, err = c.SeekKey(int64(dir), after); err != nil {
		return p, err
	}
	return p, p.settle([]byte(after))
}

// next moves behind the name of the current entry.
func (p *keptEntries) next() (err error) {
	name := p.e.name
	if p.ok, err = p.c.Next(); err != nil {
		return err
	}
	return p.settle(name)
}

// settle moves to the first entry from here on that the snapshot sees, with a name other than the
// given one.
func (p *keptEntries) settle(not []byte) (err error) {
	for ; p.ok; p.ok, err = p.c.Next() {
		if err != nil {
			return err
		}
		if p.e, err = keptEntryAt(p.c); err != nil {
			return err
		}
		if p.e.parent != p.dir {
			p.ok = false
			return nil
		}
		if p.e.until >= p.at && (len(not) == 0 || string(p.e.name) != string(not)) {
			return nil
		}
	}
	return err
}

// ReadAt implements store.Rx.
func (r *past) ReadAt(n store.Node, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	if off >= n.Size {
		return 0, io.EOF
	}
	var eof error
	if rest := n.Size - off; int64(len(p)) > rest {
		p, eof = p[:rest], io.EOF
	}
	done := 0
	err := r.guard(func() error { return r.read(&n, p, off, &done) })
	if err == nil {
		err = eof
	}
	return done, err
}

// read fills p, which lies within the file, chunk by chunk, and keeps count in done.
func (r *past) read(n *store.Node, p []byte, off int64, done *int) error {
	if r.live == n.Ino {
		return r.rx.read(n, p, off, done)
	}
	data, err := r.tx.Table("data")
	if err != nil {
		return err
	}
	kept, shown := keptChunks{r: r}, baseChunks{r: r.rx, ino: n.Ino}
	for *done < len(p) {
		at := off + int64(*done)
		part := p[*done:min(len(p), *done+store.ChunkSize-int(at%store.ChunkSize))]
		id := store.DataID(n.Ino, at)
		block, ok, err := kept.find(id)
		if err != nil {
			return err
		}
		got := 0
		switch {
		case !ok:
			if got, ok, err = data.ReadAt(id, dataBytes, part, at%store.ChunkSize); err == nil && !ok {
				got, err = shown.read(&data, part, at)
			}
		case block.id != 0:
			got, err = r.readBlock(n.Ino, block.id, part, at%store.ChunkSize)
		case at%store.ChunkSize < int64(len(block.content)):
			got = copy(part, block.content[at%store.ChunkSize:])
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if got < len(part) && n.Holes == 0 {
			return store.Damaged("inode %d lacks content from byte %d on", n.Ino, at+int64(got))
		}
		clear(part[got:])
		*done += len(part)
	}
	return nil
}

// readBlock reads a part of a content that was kept of an inode.
func (r *past) readBlock(ino store.Ino, block int64, p []byte, off int64) (int, error) {
	blocks, err := r.tx.Table("block")
	if err != nil {
		return 0, err
	}
	got, ok, err := blocks.ReadAt(block, blockBytes, p, off)
	if err == nil && !ok {
		err = store.Damaged("inode %d lacks block %d, which was kept of it", ino, block)
	}
	return got, err
}

// keptChunks is a place among the kept chunks of an inode.
type keptChunks struct {
	r     *past
	begun bool
	ok    bool // the cursor is at a row, which is that of id
	id    int64
}

// A keptBlock is a content as table data_was has it: in table block, if id is not 0, or the content
// itself, in the database. It is empty if there was no row.
type keptBlock struct {
	id      int64
	content []byte
}

// size returns how many bytes it has.
func (b *keptBlock) size(blocks *sqlitefile.Table) (int64, error) {
	if b.id == 0 {
		return int64(len(b.content)), nil
	}
	row, ok, err := blocks.Get(b.id)
	if err != nil || !ok {
		return 0, err
	}
	return row.Size(blockBytes)
}

// decodeKeptBlock decodes a row of table data_was, of which up to maxBlock bytes were read.
func decodeKeptBlock(v *[dataWasColumns]sqlitefile.Value) (b keptBlock, err error) {
	switch block := v[dataWasBlock]; {
	case block.Kind() == sqlitefile.KindInteger && block.Int64() >= 0:
		b.id = block.Int64()
	case block.Kind() == sqlitefile.KindBlob && len(block.Bytes()) <= store.MaxInlineBlock:
		b.content = block.Bytes()
	default:
		id := v[dataWasID].Int64()
		err = store.Damaged("chunk %d of inode %d was kept in an impossible block", id&(1<<store.ChunkBits-1), id>>store.ChunkBits)
	}
	return b, err
}

// maxBlock is how many bytes are read of a value of table data_was: one more than a content has.
const maxBlock = store.MaxInlineBlock + 1

// find returns what was kept of a chunk for the snapshot. ok is false if it sees the live row. The
// ids of successive calls must ascend.
func (k *keptChunks) find(id int64) (block keptBlock, ok bool, err error) {
	if k.begun && (!k.ok || id < k.id) {
		return block, false, nil // no row is kept before the one of k.id
	}
	c, err := k.r.cursor(&k.r.data, "data_was")
	if err != nil {
		return block, false, err
	}
	k.begun = true
	if k.ok, err = c.SeekKey(id, k.r.at); err != nil || !k.ok {
		return block, false, err
	}
	var v [dataWasColumns]sqlitefile.Value
	if err := c.ValuesUpTo(maxBlock, v[:]); err != nil {
		return block, false, err
	}
	if k.id = v[dataWasID].Int64(); k.id != id {
		return block, false, nil
	}
	block, err = decodeKeptBlock(&v)
	return block, err == nil, err
}
