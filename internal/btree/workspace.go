package btree

import (
	"encoding/binary"
	"slices"

	"github.com/foliofs/folio/internal/format"
)

// A Workspace is memory that the b-trees of a transaction share while they change. It serves one at
// a time.
type Workspace struct {
	usable   int
	pointers bool // the database keeps pointer maps

	page   []byte              // of a page that is defragmented
	old    [maxSiblings][]byte // the siblings as they were
	run    run
	carry  [2][]byte // the cells of run, and of the run before it
	turn   int       // the carry in use
	spare  []byte    // a cell
	record []byte    // a record assembled from overflow pages
	moved  []byte    // the record of an entry that changes its place
	Parts  [1][]byte
	rowid  [format.MaxVarintLen]byte // a divider of a table
}

func NewWorkspace(usable int, pointers bool) *Workspace {
	ws := &Workspace{usable: usable, pointers: pointers, page: make([]byte, usable)}
	for i := range ws.old {
		ws.old[i] = make([]byte, usable)
	}
	return ws
}

// A run is cells that wait for room in a page: they belong before its cell at. A page has at most
// one.
type run struct {
	at, n int
	cells [maxPages - 1]cell
}

// room returns how many bytes the cells take in a page.
func (r *run) room() (room int) {
	for i := range r.n {
		room += r.cells[i].room()
	}
	return room
}

// pending makes a run of one cell, and returns the room for it.
func (ws *Workspace) pending(at, size int) []byte {
	ws.begin(at)
	ws.carry[ws.turn] = slices.Grow(ws.carry[ws.turn][:0], size)[:size]
	ws.run.n, ws.run.cells[0] = 1, ws.carry[ws.turn]
	return ws.carry[ws.turn]
}

// begin begins a run without cells, and leaves the bytes of the one before as they are.
func (ws *Workspace) begin(at int) {
	ws.turn = 1 - ws.turn
	ws.carry[ws.turn] = ws.carry[ws.turn][:0]
	ws.run.at, ws.run.n = at, 0
}

// divider adds a cell of an interior page to the run: a child, and a copy of the rest.
func (ws *Workspace) divider(child uint32, body []byte) {
	start := len(ws.carry[ws.turn])
	buf := binary.BigEndian.AppendUint32(ws.carry[ws.turn], child)
	buf = append(buf, body...)
	ws.carry[ws.turn] = buf
	ws.run.cells[ws.run.n] = buf[start:len(buf):len(buf)]
	ws.run.n++
}

// sparse reports whether a page with so many free bytes should share with its neighbours.
func (ws *Workspace) sparse(free int) bool { return free*3 > ws.usable*2 }

// maxSiblings is how many pages are balanced at once, and maxPages how many they can become: cells
// of a third of a page and less fill pages to two thirds at least, and a larger one in a leaf of a
// table splits a page into three.
const (
	maxSiblings = 3
	maxPages    = 8
)
