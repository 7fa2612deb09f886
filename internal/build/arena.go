package build

// An arena keeps many names in few allocations.
type arena struct{ blocks [][]byte }

// A nameRef is a name in an arena: block number, offset in the block and length.
type nameRef uint64

const (
	arenaBlock  = 1 << 20 // bytes; larger than any name
	offsetBits  = 20
	lengthBits  = 10
	lengthMask  = 1<<lengthBits - 1
	offsetMask  = 1<<offsetBits - 1
	blockOffset = offsetBits + lengthBits
)

// add copies a name of up to store.MaxName bytes.
func (a *arena) add(name string) nameRef {
	last := len(a.blocks) - 1
	if last < 0 || len(a.blocks[last])+len(name) > arenaBlock {
		a.blocks = append(a.blocks, make([]byte, 0, arenaBlock))
		last++
	}
	off := len(a.blocks[last])
	a.blocks[last] = append(a.blocks[last], name...)
	return nameRef(last)<<blockOffset | nameRef(off)<<lengthBits | nameRef(len(name))
}

// get returns a name. It belongs to the arena and must not be changed.
func (a *arena) get(r nameRef) []byte {
	off := int(r >> lengthBits & offsetMask)
	return a.blocks[r>>blockOffset][off : off+int(r&lengthMask)]
}
