package archive

import (
	"encoding/binary"
	"iter"
)

// zipFields yields the ids and contents of extra fields, as far as they are whole.
func zipFields(extra []byte) iter.Seq2[uint16, []byte] {
	return func(yield func(uint16, []byte) bool) {
		for len(extra) >= 4 {
			id, size := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
			if extra = extra[4:]; size > len(extra) || !yield(id, extra[:size]) {
				return
			}
			extra = extra[size:]
		}
	}
}

const zipUnixOwner = 0x7875 // the id of Info-ZIP's new Unix extra field

// readZipOwner returns the owner in extra fields, if there is one: version 1, size of uid, uid,
// size of gid, gid.
func readZipOwner(extra []byte) (uid, gid uint32, ok bool) {
	for id, field := range zipFields(extra) {
		if id != zipUnixOwner || len(field) < 1 || field[0] != 1 {
			continue
		}
		uid, rest, ok := sized(field[1:])
		gid, _, ok2 := sized(rest)
		if ok && ok2 {
			return uid, gid, true
		}
	}
	return 0, 0, false
}

// sized decodes a number that follows its size in bytes.
func sized(p []byte) (n uint32, rest []byte, ok bool) {
	if len(p) < 1 || p[0] > 4 || len(p) < 1+int(p[0]) {
		return 0, nil, false
	}
	var b [4]byte
	copy(b[:], p[1:1+p[0]])
	return binary.LittleEndian.Uint32(b[:]), p[1+p[0]:], true
}

// zipOwner returns the extra field that readZipOwner reads.
func zipOwner(uid, gid uint32) []byte {
	p := binary.LittleEndian.AppendUint16(nil, zipUnixOwner)
	p = binary.LittleEndian.AppendUint16(p, 11)
	p = append(p, 1, 4)
	p = binary.LittleEndian.AppendUint32(p, uid)
	p = append(p, 4)
	return binary.LittleEndian.AppendUint32(p, gid)
}
