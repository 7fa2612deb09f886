package exec

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// random returns any integer.
func random([]record.Value) (record.Value, error) { return record.OfInt(int64(rand.Uint64())), nil }

// randomBlob returns a BLOB of a size with any bytes.
func randomBlob(args []record.Value) (record.Value, error) {
	n := max(value.Integer(args[0]), 1)
	if n > value.MaxSize {
		return record.Value{}, value.ErrTooBig
	}
	b := make([]byte, 0, n+8)
	for int64(len(b)) < n {
		b = binary.LittleEndian.AppendUint64(b, rand.Uint64())
	}
	return record.OfBlob(b[:n]), nil
}
