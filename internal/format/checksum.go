package format

import "encoding/binary"

// A Checksum is the running sum of a write-ahead log and of its index. It is a Fibonacci-weighted
// sum over pairs of 32-bit words, x and y:
//
//	s0 += x + s1
//	s1 += y + s0
//
// A log's header says in which byte order its words are read. Every writer uses its machine's own,
// which is the fast one there, and every reader must know both.
type Checksum [2]uint32

// Add returns c carried on over b, whose length must be a multiple of 8; up to 7 bytes beyond that
// are left out.
func (c Checksum) Add(b []byte, bigEndian bool) Checksum {
	if bigEndian {
		return c.addBig(b)
	}
	return c.addLittle(b)
}

// In the loops the operands stand in the order that leaves two dependent additions for each eight
// bytes: they wait for one another, and not for memory. The sum is linear in the words and in its
// start value. So longer stretches are summed in four lanes at once, and the sum before a lane is
// carried over it afterwards.

// lane is how many bytes each of the lanes is long.
const lane = 256

func (c Checksum) addLittle(b []byte) Checksum {
	for ; len(b) >= 4*lane; b = b[4*lane:] {
		c = c.addLanes((*[4 * lane]byte)(b))
	}
	s0, s1 := c[0], c[1]
	for ; len(b) >= 8; b = b[8:] {
		v := binary.LittleEndian.Uint64(b)
		s0 = s0 + uint32(v) + s1
		s1 = s1 + uint32(v>>32) + s0
	}
	return Checksum{s0, s1}
}

// addLanes returns c carried on over four lanes.
func (c Checksum) addLanes(b *[4 * lane]byte) Checksum {
	a0, a1 := c[0], c[1]
	var b0, b1, c0, c1, d0, d1 uint32
	for i := 0; i < lane; i += 8 {
		v := binary.LittleEndian.Uint64(b[i:])
		w := binary.LittleEndian.Uint64(b[lane+i:])
		x := binary.LittleEndian.Uint64(b[2*lane+i:])
		y := binary.LittleEndian.Uint64(b[3*lane+i:])
		a0, b0, c0, d0 = a0+uint32(v)+a1, b0+uint32(w)+b1, c0+uint32(x)+c1, d0+uint32(y)+d1
		a1, b1, c1, d1 = a1+uint32(v>>32)+a0, b1+uint32(w>>32)+b0, c1+uint32(x>>32)+c0, d1+uint32(y>>32)+d0
	}
	sum := Checksum{a0, a1}
	for _, l := range [...]Checksum{{b0, b1}, {c0, c1}, {d0, d1}} {
		sum = sum.overLane()
		sum[0], sum[1] = sum[0]+l[0], sum[1]+l[1]
	}
	return sum
}

// laneCarry is where a lane of zeros takes {1, 0} and {0, 1}.
var laneCarry = [2]Checksum{Checksum{1, 0}.addZeros(lane), Checksum{0, 1}.addZeros(lane)}

func (c Checksum) addZeros(n int) Checksum {
	for ; n >= 8; n -= 8 {
		c[0] += c[1]
		c[1] += c[0]
	}
	return c
}

// overLane returns c carried on over a lane of zeros.
func (c Checksum) overLane() Checksum {
	x, y := laneCarry[0], laneCarry[1]
	return Checksum{c[0]*x[0] + c[1]*y[0], c[0]*x[1] + c[1]*y[1]}
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
