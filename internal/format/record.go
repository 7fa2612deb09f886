package format

// A Record is the payload of a table leaf cell or an index cell: a header, which is the header's
// own length and a serial type for each value, all varints, then the values one after another.
//
// RecordHeader splits off the header. Types is the serial types' bytes and body the offset of the
// first value. It is not ok if the length runs past the payload's local part b: a header that
// itself spills is handed in assembled. A length of zero makes an empty record, as SQLite reads it.
func RecordHeader(b []byte) (types []byte, body int, ok bool) {
	if len(b) > 0 && b[0] < 0x80 {
		h := int(b[0])
		if h > len(b) {
			return nil, 0, false
		}
		return b[1:max(h, 1)], h, true
	}
	h, n := longVarint(b)
	if n == 0 || h < uint64(n) || h > uint64(len(b)) {
		return nil, 0, false
	}
	return b[n:h], int(h), true
}

// RecordHeaderLen returns the length of the header of the record that starts with b, or 0 if b is
// too short to tell.
func RecordHeaderLen(b []byte) uint64 {
	h, n := Varint(b)
	if n == 0 {
		return 0
	}
	return h
}

// AppendRecordHeader appends the header of a record of values with these serial types to b.
func AppendRecordHeader(b []byte, types ...SerialType) []byte {
	size := 0
	for _, t := range types {
		size += VarintLen(uint64(t))
	}
	own := VarintLen(uint64(size) + 1)
	own = VarintLen(uint64(size + own)) // its own length may need one byte more
	b = AppendVarint(b, uint64(size+own))
	for _, t := range types {
		b = AppendVarint(b, uint64(t))
	}
	return b
}
