package native

import "github.com/foliofs/folio/internal/store"

// The columns of the tables, in the order of store.Schema.
const (
	nodeIno = iota
	nodeMode
	nodeNlink
	nodeUID
	nodeGID
	nodeSize
	nodeHoles
	nodeMtime
	nodeCtime
	nodeAtime
	nodeRdev
	nodeColumns
)

const (
	entryParent = iota
	entryName
	entryIno
	entryType
	entryColumns
)

const (
	_ = iota // id
	dataBytes
	dataColumns
)

const (
	_ = iota // ino
	xattrName
	xattrValue
	xattrColumns
)

const orphanColumns = 1

// Columns of the table of store.CloneTables.
const (
	originIno = iota
	originBase
	originChunks
	originColumns
)

// Columns of the tables of store.HistoryTables.
const (
	_ = iota // id
	snapshotName
	snapshotTime
	snapshotNext
	snapshotColumns
)

const (
	nodeWasIno = iota
	nodeWasUntil
	nodeWasMode    // and from here on the columns of node
	nodeWasColumns = nodeColumns + 1
)

const (
	entryWasParent = iota
	entryWasName
	entryWasUntil
	entryWasIno
	entryWasType
	entryWasColumns
)

const (
	dataWasID = iota
	dataWasUntil
	dataWasBlock
	dataWasColumns
)

const (
	_ = iota // id
	blockBytes
	blockColumns
)

const (
	xattrWasIno = iota
	xattrWasName
	xattrWasUntil
	xattrWasValue
	xattrWasColumns
)

// maxNumber is how many bytes are read of a column that should hold a number. No number is longer.
const maxNumber = 9

// maxEntry is how many bytes are read of a value of an entry: one more than a name has.
const maxEntry = store.MaxName + 1
