package pgstore

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/foliofs/folio/internal/store"
)

// A reader reads within a transaction, which its first trip begins.
type reader struct {
	s      *Store
	ctx    context.Context
	begin  []step        // of the first trip
	conn   *pgxpool.Conn // nil before the first trip
	broken error         // of the server, which ended the transaction
	trips  int           // that were made
	single bool          // each trip is a transaction of its own, and must find the version of the one before
	bare   bool          // the next trip is one statement without a transaction
	sent   chan error    // gets the error of a trip that the caller has not waited for yet; nil if there is none
	cache  readCache

	guess    *optimisticCache // in place of the server, until the commit; or nil
	before   func() error     // of the first trip; or nil
	snapshot *int64           // its version, 0 before the first trip; nil in a transaction that writes
}

// ask makes a trip. The first one also begins the transaction.
func (r *reader) ask(steps ...step) error {
	if r.wait() != nil {
		return r.broken
	}
	if r.guess != nil {
		return r.mustRead()
	}
	if err := r.prepare(); err != nil {
		return err
	}
	r.trips++
	if r.single {
		return r.askAlone(steps)
	}
	if r.bare {
		r.bare = false
		r.broken = r.look(steps...)
		return r.broken
	}
	if r.conn == nil {
		r.conn, r.broken = r.s.connect(r.ctx, len(r.begin), append(slices.Clip(r.begin), steps...)...)
		return r.broken
	}
	if err := r.s.roundTrip(r.ctx, r.conn.Conn(), steps...); err != nil {
		r.broken = cmp.Or(r.ctx.Err(), explain(err))
	}
	return r.broken
}

// errChanged says that trips which are transactions of their own have seen different versions.
var errChanged = errors.New("the volume has changed meanwhile")

// askAlone makes a trip that begins and ends a transaction, so that none is needed for its end.
func (r *reader) askAlone(steps []step) error {
	version := int64(0)
	begin := []step{do(beginRead), {statement: selectVersion, row: numberInto(&version)}}
	c, err := r.s.connect(r.ctx, len(begin), append(append(begin, steps...), do(commit))...)
	if err == nil {
		c.Release()
		if version != *r.snapshot {
			err = errChanged
		}
	}
	r.broken = err
	return err
}

// Changed implements store.Walker.
func (s *Store) Changed(r store.Rx) bool {
	of, ok := r.(*rx)
	return ok && errors.Is(of.broken, errChanged)
}

// look makes a trip without a transaction.
func (r *reader) look(steps ...step) error {
	c, err := r.s.connect(r.ctx, 0, steps...)
	if err == nil {
		c.Release()
	}
	return err
}

// prepare does the work before the first trip.
func (r *reader) prepare() error {
	if r.conn != nil || r.before == nil {
		return nil
	}
	before := r.before
	r.before = nil
	return before()
}

// send makes a trip that the next one, or wait, waits for.
func (r *reader) send(steps ...step) error {
	if r.conn == nil {
		return r.ask(steps...)
	}
	if r.wait() != nil {
		return r.broken
	}
	r.trips++
	sent, ctx, c := make(chan error, 1), r.ctx, r.conn.Conn()
	go func() { sent <- r.s.roundTrip(ctx, c, steps...) }()
	r.sent = sent
	return nil
}

// arrived reports whether wait would return at once.
func (r *reader) arrived() bool { return r.sent == nil || len(r.sent) > 0 }

// wait waits for a trip of send.
func (r *reader) wait() error {
	if r.sent != nil {
		if err := <-r.sent; err != nil {
			r.broken = cmp.Or(r.ctx.Err(), explain(err))
		}
		r.sent = nil
	}
	return r.broken
}

// An rx is a read transaction. It implements store.Rx.
type rx struct {
	reader
	version  int64 // 0 before the first trip
	readOnce bool  // it has read what it needs, without a transaction
	need     store.Need
	begun    time.Time
	ended    bool
	files    files
	branches branches
	xattrs   xattrRange
}

// emptyCache returns the cache with which a read transaction begins.
func (s *Store) emptyCache() readCache { return readCache{bounded: true, table: s.dataSize.Load()} }

// newRx returns a read transaction whose trips end with ctx. The caller has entered the gate.
func newRx(ctx context.Context, s *Store) *rx {
	r := &rx{reader: reader{s: s, ctx: ctx, cache: s.emptyCache()}}
	if s.recent.most > 0 {
		r.begun = time.Now()
	}
	r.begin = []step{do(beginRead), {statement: selectVersion, row: numberInto(&r.version)}}
	r.snapshot = &r.version
	return r
}

// End ends the transaction. The caller does not wait for the server.
func (r *rx) End() {
	s, c, sent := r.s, r.conn, r.sent
	if r.ended {
		return
	}
	s.recent.note(uint64(r.version), r.begun)
	r.ended, r.conn, r.broken = true, nil, fs.ErrClosed
	if c == nil {
		s.gate.Leave()
		return
	}
	go func() {
		defer s.gate.Leave()
		if sent != nil { // the connection is in use
			<-sent
		}
		if s.roundTrip(bg, c.Conn(), do(commit)) != nil {
			s.abandon(c)
			return
		}
		c.Release()
	}()
}

// Version identifies the snapshot. It is 0 if the server cannot be asked, or if readPath
// has not asked for it.
func (r *rx) Version() uint64 {
	if r.version == 0 && r.conn == nil && !r.ended && !r.readOnce {
		_ = r.ask() // the next method returns the error
	}
	return uint64(r.version)
}

// Node returns an inode whose numbers are plausible.
func (r *reader) Node(ino store.Ino) (n store.Node, err error) {
	if n, ok := r.cache.nodes[ino]; ok {
		return n, nil
	}
	if !ino.Valid() {
		return n, fs.ErrNotExist
	}
	if r.guess != nil {
		return r.guessNode(ino)
	}
	raw, found := store.NodeRow{}, false
	err = r.ask(step{statement: selectNode, args: []any{int64(ino)}, row: func(v [][]byte) { raw, found = nodeRow(v[1:]), true }})
	switch {
	case err != nil:
		return n, err
	case !found:
		return n, r.unlessSure(fs.ErrNotExist)
	}
	if n, err = raw.Decode(ino); err == nil {
		err = r.fits(&n)
	}
	if err == nil {
		r.cache.readNode(n)
	}
	return n, r.unlessSure(err)
}

// unlessSure returns the error of a read. An optimistic transaction may have read what belongs to
// two states of the volume: it must begin again then.
func (r *reader) unlessSure(err error) error {
	if err != nil && r.cache.readSet != nil {
		r.broken = errLock
		return r.broken
	}
	return err
}

// errLock says that an optimistic transaction must run again, with the volume locked.
var errLock = errors.New("the volume must be locked")

// fits returns an error if an inode claims to have more content than its table has bytes.
func (r *reader) fits(n *store.Node) error {
	stored := n.Size - n.Holes
	if stored <= max(largeFile, r.s.dataSize.Load()) {
		return nil
	}
	size := int64(0)
	if err := r.ask(step{statement: selectDataSize, row: numberInto(&size)}); err != nil {
		return err
	}
	if stored > size {
		return store.Damaged("inode %d has more content than the database: %d bytes", n.Ino, stored)
	}
	r.s.dataSize.Store(size)
	return nil
}

// Lookup returns the entry with this name in a directory.
func (r *reader) Lookup(dir store.Ino, name string) (e store.Entry, err error) {
	if !store.ValidName(name) || !dir.Valid() {
		return e, fs.ErrNotExist
	}
	key := store.EntryKey{Dir: dir, Name: name}
	if e, ok := r.cache.entries[key]; ok {
		if e.Ino == 0 {
			return store.Entry{}, fs.ErrNotExist
		}
		return e, nil
	}
	if r.guess != nil {
		return r.guessEntry(key)
	}
	var ino, typ int64
	err = r.ask(step{statement: selectEntry, args: []any{int64(dir), []byte(name)}, row: func(v [][]byte) { ino, typ = number(v[0]), number(v[1]) }})
	if err != nil {
		return e, err
	}
	if ino == 0 && typ == 0 {
		r.cache.readEntry(key, store.Entry{})
		return e, fs.ErrNotExist
	}
	if e, err = store.DecodeEntry(dir, name, ino, typ); err == nil {
		r.cache.readEntry(key, e)
	}
	return e, err
}

// List adds the entries of a directory to l. It reads their inodes with them, as a caller that
// lists a directory often asks for these next.
func (r *reader) List(dir store.Ino, after string, max int, l *store.Listing) error {
	if !dir.Valid() {
		return nil
	}
	limit := int64(max)
	if max <= 0 {
		limit = 1<<63 - 1
	}
	var damage error
	row := func(v [][]byte) {
		ino, typ := number(v[1]), number(v[2])
		if damage == nil {
			damage = l.AddRow(dir, v[0], ino, typ)
		}
		if damage != nil {
			return
		}
		r.cache.learnRow(v[3:])
		if name := string(v[0]); len(r.cache.entries) < maxKnown {
			r.cache.learn(store.EntryKey{Dir: dir, Name: name}, store.Entry{Name: name, Ino: store.Ino(ino), Type: store.Type(typ)})
		}
	}
	if err := r.ask(step{statement: selectEntries, args: []any{int64(dir), []byte(after), limit}, row: row}); err != nil {
		return err
	}
	return damage
}

// mustRead ends a transaction that has guessed and needs the server.
func (r *reader) mustRead() error {
	r.broken = errGuess
	return r.broken
}

// guessNode is Node without the server.
func (r *reader) guessNode(ino store.Ino) (store.Node, error) {
	n, ok := r.guess.node(ino)
	if !ok {
		return n, r.mustRead()
	}
	r.cache.readNode(n)
	return n, nil
}

// guessEntry is Lookup without the server.
func (r *reader) guessEntry(key store.EntryKey) (store.Entry, error) {
	e := r.guess.entry(key)
	r.cache.readEntry(key, e)
	if e.Ino == 0 {
		return e, fs.ErrNotExist
	}
	return e, nil
}

// Begin starts a read transaction. The first method of it that needs the server takes the snapshot.
func (s *Store) Begin(ctx context.Context) (store.Rx, error) {
	r, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (s *Store) begin(ctx context.Context) (*rx, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	return newRx(ctx, s), nil
}
