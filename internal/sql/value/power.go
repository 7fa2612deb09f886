package value

import "math/bits"

// The powers of ten for which SQLite converts between decimal and binary.
const (
	firstPower = -348
	lastPower  = 347
)

// smallPowers holds the 64 most significant bits of 1e0 to 1e26.
var smallPowers = [...]uint64{
	0x8000000000000000, 0xa000000000000000, 0xc800000000000000, 0xfa00000000000000,
	0x9c40000000000000, 0xc350000000000000, 0xf424000000000000, 0x9896800000000000,
	0xbebc200000000000, 0xee6b280000000000, 0x9502f90000000000, 0xba43b74000000000,
	0xe8d4a51000000000, 0x9184e72a00000000, 0xb5e620f480000000, 0xe35fa931a0000000,
	0x8e1bc9bf04000000, 0xb1a2bc2ec5000000, 0xde0b6b3a76400000, 0x8ac7230489e80000,
	0xad78ebc5ac620000, 0xd8d726b7177a8000, 0x878678326eac9000, 0xa968163f0a57b400,
	0xd3c21bcecceda100, 0x84595161401484a0, 0xa56fa5b99019a5c8,
}

// largePowers holds the 64 most significant bits of 1e-351, 1e-324 and so on to 1e324, with 1e-1 in
// place of 1e0. lowPowers holds the 32 bits that follow.
var largePowers = [...]uint64{
	0x8049a4ac0c5811ae, 0xcf42894a5dce35ea, 0xa76c582338ed2621, 0x873e4f75e2224e68,
	0xda7f5bf590966848, 0xb080392cc4349dec, 0x8e938662882af53e, 0xe65829b3046b0afa,
	0xba121a4650e4ddeb, 0x964e858c91ba2655, 0xf2d56790ab41c2a2, 0xc428d05aa4751e4c,
	0x9e74d1b791e07e48, 0xcccccccccccccccc, 0xcecb8f27f4200f3a, 0xa70c3c40a64e6c51,
	0x86f0ac99b4e8dafd, 0xda01ee641a708de9, 0xb01ae745b101e9e4, 0x8e41ade9fbebc27d,
	0xe5d3ef282a242e81, 0xb9a74a0637ce2ee1, 0x95f83d0a1fb69cd9, 0xf24a01a73cf2dccf,
	0xc3b8358109e84f07, 0x9e19db92b4e31ba9,
}

var lowPowers = [...]uint32{
	0x205b896d, 0x52064cad, 0xaf2af2b8, 0x5a7744a7, 0xaf39a475, 0xbd8d794e,
	0x547eb47b, 0x0cb4a5a3, 0x92f34d62, 0x3a6a07f9, 0xfae27299, 0xaa97e14c,
	0x775ea265, 0xcccccccc, 0x00000000, 0x999090b6, 0x69a028bb, 0xe80e6f48,
	0x5ec05dd0, 0x14588f14, 0x8f1668c9, 0x6d953e2c, 0x4abdaf10, 0xbc633b39,
	0x0a862f81, 0x6c07a2c2,
}

// powerOfTen returns the 64 most significant bits of 10 to the power p, and the 32 bits that follow
// as SQLite computes them: they may be off by one in the last place, and every digit that SQLite
// prints depends on that.
func powerOfTen(p int) (high uint64, low uint32) {
	if p == -1 {
		return largePowers[13], lowPowers[13]
	}
	if p >= 0 && p < len(smallPowers) {
		return smallPowers[p], 0
	}
	group := p / 27
	n := p % 27
	if n < 0 {
		group--
		n += 27
	}
	high, low = largePowers[group+13], lowPowers[group+13]
	if n == 0 {
		return high, low
	}
	high, low = multiply160(high, low, smallPowers[n])
	if high>>63 == 0 {
		high = high<<1 | uint64(low>>31)
		low = low<<1 | 1
	}
	return high, low
}

// multiply160 returns the upper 64 bits of the 160 of (a<<32 + low) * b, and the 32 bits that
// follow.
func multiply160(a uint64, low uint32, b uint64) (high uint64, next uint32) {
	high, middle := bits.Mul64(a, b)
	carryHigh, carryLow := bits.Mul64(uint64(low), b)
	middle, carry := bits.Add64(middle, carryHigh<<32|carryLow>>32, 0)
	return high + carry, uint32(middle >> 32)
}

// binaryExponent returns the exponent of the power of two below 10 to the power p.
func binaryExponent(p int) int { return p * 108853 >> 15 }

// decimalExponent returns the exponent of the power of ten below 2 to the power e.
func decimalExponent(e int) int { return e * 78913 >> 18 }
