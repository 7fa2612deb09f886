package exec

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/value"
)

const affinityText = catalog.Text

// applied returns a value as a column of an affinity has it.
func applied(v record.Value, a value.Affinity) record.Value { return value.Apply(v, a) }

// A keySet is a set of values or rows.
type keySet struct {
	m   map[string]struct{}
	buf []byte
}

func (s *keySet) len() int { return len(s.m) }

func (s *keySet) has(v record.Value, order value.Collation) bool {
	s.buf = appendKey(s.buf[:0], v, order)
	_, ok := s.m[string(s.buf)]
	return ok
}

func (s *keySet) add(v record.Value, order value.Collation) (added bool) {
	s.buf = appendKey(s.buf[:0], v, order)
	return s.addBytes()
}

func (s *keySet) addRow(row []record.Value, orders []value.Collation) (added bool) {
	s.buf = appendRowKey(s.buf[:0], row, orders)
	return s.addBytes()
}

func (s *keySet) addBytes() bool {
	if _, ok := s.m[string(s.buf)]; ok {
		return false
	}
	if s.m == nil {
		s.m = make(map[string]struct{})
	}
	s.m[string(s.buf)] = struct{}{}
	return true
}

// appendRowKey appends the keys of the values of a row.
func appendRowKey(b []byte, row []record.Value, orders []value.Collation) []byte {
	for i, v := range row {
		b = appendKey(b, v, orders[i])
	}
	return b
}

// appendKey appends bytes that are equal for values that are equal by a collation, and for no
// others.
func appendKey(b []byte, v record.Value, order value.Collation) []byte {
	switch v.Kind() {
	case record.Null:
		return append(b, 0)
	case record.Integer:
		return binary.BigEndian.AppendUint64(append(b, 1), uint64(v.Int()))
	case record.Float:
		f := v.Float()
		if i := int64(f); f >= -1<<63 && f < 1<<63 && float64(i) == f {
			return binary.BigEndian.AppendUint64(append(b, 1), uint64(i))
		}
		return binary.BigEndian.AppendUint64(append(b, 2), math.Float64bits(f))
	case record.Text:
		return appendText(append(b, 3), v.Bytes(), order)
	}
	return appendBytes(append(b, 4), v.Bytes())
}

func appendBytes(b, data []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(data))), data...)
}

func appendText(b, text []byte, order value.Collation) []byte {
	switch order {
	case value.RTrim:
		text = bytes.TrimRight(text, " ")
	case value.NoCase: // which looks no further than a zero byte
		b = binary.AppendUvarint(b, uint64(len(text)))
		text = value.CString(text)
		b = binary.AppendUvarint(b, uint64(len(text)))
		for _, c := range text {
			b = append(b, value.Lower(c))
		}
		return b
	}
	return appendBytes(b, text)
}
