package rowstore

import "github.com/foliofs/folio/internal/store"

// The columns of the tables, in the order of store.Schema.
const (
	nodeIno = iota
	NodeMode
	NodeNlink
	nodeUID
	nodeGID
	NodeSize
	nodeHoles
	nodeMtime
	nodeCtime
	NodeAtime
	nodeRdev
	NodeColumns
)

const (
	EntryParent = iota
	EntryName
	EntryIno
	EntryType
	EntryColumns
)

const (
	_ = iota // id
	DataBytes
	dataColumns
)

const (
	_ = iota // ino
	XattrName
	XattrValue
	XattrColumns
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
	SnapshotName
	SnapshotTime
	SnapshotNext
	SnapshotColumns
)

const (
	NodeWasIno = iota
	NodeWasUntil
	nodeWasMode    // and from here on the columns of node
	NodeWasColumns = NodeColumns + 1
)

const (
	EntryWasParent = iota
	EntryWasName
	EntryWasUntil
	EntryWasIno
	EntryWasType
	EntryWasColumns
)

const (
	DataWasID = iota
	DataWasUntil
	DataWasBlock
	DataWasColumns
)

const (
	_ = iota // id
	BlockBytes
	blockColumns
)

const (
	XattrWasIno = iota
	XattrWasName
	XattrWasUntil
	XattrWasValue
	XattrWasColumns
)

// MaxNumber is how many bytes are read of a column that should hold a number. No number is longer.
const MaxNumber = 9

// MaxEntry is how many bytes are read of a value of an entry: one more than a name has.
const MaxEntry = store.MaxName + 1
