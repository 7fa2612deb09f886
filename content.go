package folio

import (
	"strings"
	"unsafe"
)

// contentBuffer returns n bytes of memory for a caller who overwrites all of them. They hold whatever they held before: clearing what is
// overwritten at once would cost as much as reading a file does otherwise. A strings.Builder is the only one in the
// standard library who gives such memory away.
func contentBuffer(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), n) // nobody keeps the string
}
