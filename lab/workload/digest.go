package workload

import "math/bits"

// fold makes one number of an item. It takes a nanosecond for eight bytes, so that it can be done
// for every answer while the clock runs.
func fold[T string | []byte](id int64, b T) uint64 {
	h := mix(uint64(id) + uint64(len(b))<<40)
	for len(b) >= 8 {
		h = (bits.RotateLeft64(h, 25) ^ word(b)) * 0x9e3779b97f4a7c15
		b = b[8:]
	}
	for i := range len(b) {
		h = (bits.RotateLeft64(h, 25) ^ uint64(b[i])) * 0x9e3779b97f4a7c15
	}
	return mix(h)
}

// word is the first eight bytes as a number.
func word[T string | []byte](b T) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// mix spreads a number over 64 bits: the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Rand is a stream of random numbers, splitmix64, whose state is the value itself.
type Rand uint64

// Next is the next number.
func (r *Rand) Next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return mix(uint64(*r))
}
