package value

import (
	"math"
	"math/bits"
)

// fromDecimal returns the float64 nearest to d times 10 to the power p, as SQLite rounds it. d is
// not 0.
func fromDecimal(d uint64, p int) float64 {
	switch {
	case p < firstPower:
		return 0
	case p > lastPower:
		return math.Inf(1)
	}
	width := bits.Len64(d)
	power := binaryExponent(p)
	e := 53 - width - power
	if e > 1074 {
		if e >= 1130 {
			return 0
		}
		e = 1074
	}
	s := -(e - (64 - width) + power + 3)
	u := scaled(d<<(64-width), p, s)
	if u >= 1<<55-2 {
		u = u>>1 | u&1
		e--
	}
	m := (u + 1 + u>>2&1) >> 2
	if e <= -972 {
		return math.Inf(1)
	}
	if m&(1<<52) != 0 {
		m = m&^(1<<52) | uint64(1075-e)<<52
	}
	return math.Float64frombits(m)
}

// scaled returns x times 10 to the power p, cut off s bits, with a last bit that says whether
// anything was cut off.
func scaled(x uint64, p, s int) uint64 {
	high, low := powerOfTen(p)
	if low != 0 {
		high++
		low = ^low
	}
	product, rest := bits.Mul64(x, high)
	middle := uint32(rest >> 32)
	sticky := uint64(1)
	if product&(1<<s-1) == 0 {
		correction, _ := bits.Mul64(x, uint64(low)<<32)
		below := uint32(correction >> 32)
		sticky = 0
		if middle-below > 1 {
			sticky = 1
		}
		if middle < below {
			product--
		}
	}
	return product>>s | sticky
}

// toDecimal returns d and p such that d times 10 to the power p is about f, which is positive and
// finite. d has digits significant digits at least, of which SQLite computes 18 at most.
func toDecimal(f float64, digits int) (d uint64, p int) {
	m := math.Float64bits(f)
	e := int(m>>52) & 0x7ff
	m &= 1<<52 - 1
	if e == 0 {
		zeros := bits.LeadingZeros64(m)
		m <<= zeros
		e = -1074 - zeros
	} else {
		m = m<<11 | 1<<63
		e -= 1086
	}
	p = digits - 1 - decimalExponent(e+63)
	power, _ := powerOfTen(p)
	h, _ := bits.Mul64(m, power)
	if digits < 18 {
		return h >> -(e + binaryExponent(p) + 1), -p
	}
	h >>= -(e + binaryExponent(p) + 2)
	return (h + h<<1&2) >> 1, -p
}
