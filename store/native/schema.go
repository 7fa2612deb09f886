package native

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
