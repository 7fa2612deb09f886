package format

import "encoding/binary"

// A Checksum is the running sum of a write-ahead log and of its index. It is a Fibonacci-weighted sum over pairs of
// 32-bit words, x and y:
//
//	s0 += x + s1
//	s1 += y + s0
//
// A log's header says in which byte order its words are read. Every writer uses its machine's own, which is the fast
// one there, and every reader must know both.
type Checksum [2]uint32

// Add returns c carried on over b, whose length must be a multiple of 8; up to 7 bytes beyond that are left out.
func (c Checksum) Add(b []byte, bigEndian bool) Checksum {
	if bigEndian {
		return c.addBig(b)
	}
	return c.addLittle(b)
}

// In both loops the operands stand in the order that leaves two dependent additions for each eight bytes.

func (c Checksum) addLittle(b []byte) Checksum {
	s0, s1 := c[0], c[1]
	for ; len(b) >= 8; b = b[8:] {
		v := binary.LittleEndian.Uint64(b)
		s0 = s0 + uint32(v) + s1
		s1 = s1 + uint32(v>>32) + s0
	}
	return Checksum{s0, s1}
}

func (c Checksum) addBig(b []byte) Checksum {
	s0, s1 := c[0], c[1]
	for ; len(b) >= 8; b = b[8:] {
		v := binary.BigEndian.Uint64(b)
		s0 = s0 + uint32(v>>32) + s1
		s1 = s1 + uint32(v) + s0
	}
	return Checksum{s0, s1}
}

// addWords returns c carried on over w, whose length must be even.
func (c Checksum) addWords(w []uint32) Checksum {
	s0, s1 := c[0], c[1]
	for ; len(w) >= 2; w = w[2:] {
		s0 += w[0] + s1
		s1 += w[1] + s0
	}
	return Checksum{s0, s1}
}
