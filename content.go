package folio

import (
	"strings"
	"unsafe"
)

// contentBuffer returns n bytes of memory for a caller that must overwrite all of them. They hold
// garbage. To clear bytes that are overwritten at once would take as long as the rest of reading a
// file. Only strings.Builder, of the whole standard library, returns such memory.
func contentBuffer(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), n) // the string itself is not used again
}
