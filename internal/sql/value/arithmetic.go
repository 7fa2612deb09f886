package value

import (
	"errors"
	"math"
	"math/bits"

	"github.com/foliofs/folio/internal/record"
)

// MaxSize is SQLite's limit on the bytes of a value.
const MaxSize = 1_000_000_000

var ErrTooBig = errors.New("string or blob too big")

func Negate(v record.Value) record.Value     { return Subtract(record.OfInt(0), v) }
func Complement(v record.Value) record.Value { return record.OfInt(^Integer(v)) }

func Concat(a, b record.Value) (record.Value, error) {
	x, y := Text(a), Text(b)
	if len(x)+len(y) > MaxSize {
		return record.Value{}, ErrTooBig
	}
	return record.OfText(append(append(make([]byte, 0, len(x)+len(y)), x...), y...)), nil
}

// If a sum or product of integers overflows 64 bits, it is computed in floats.

func Add(a, b record.Value) record.Value {
	a, b = Number(a), Number(b)
	if sum := a.Int() + b.Int(); a.Kind() == record.Integer && b.Kind() == record.Integer && (a.Int()^sum)&(b.Int()^sum) >= 0 {
		return record.OfInt(sum)
	}
	return record.OfFloat(Float(a) + Float(b))
}

func Subtract(a, b record.Value) record.Value {
	a, b = Number(a), Number(b)
	if d := a.Int() - b.Int(); a.Kind() == record.Integer && b.Kind() == record.Integer && (a.Int()^b.Int())&(a.Int()^d) >= 0 {
		return record.OfInt(d)
	}
	return record.OfFloat(Float(a) - Float(b))
}

func Multiply(a, b record.Value) record.Value {
	a, b = Number(a), Number(b)
	if a.Kind() == record.Integer && b.Kind() == record.Integer {
		if p, ok := product(a.Int(), b.Int()); ok {
			return record.OfInt(p)
		}
	}
	return record.OfFloat(Float(a) * Float(b))
}

// product returns a*b if that fits.
func product(a, b int64) (int64, bool) {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	limit := uint64(math.MaxInt64)
	if negative {
		limit++
	}
	return a * b, high == 0 && low <= limit
}

func magnitude(i int64) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}

func Divide(a, b record.Value) record.Value {
	a, b = Number(a), Number(b)
	if a.Kind() == record.Integer && b.Kind() == record.Integer {
		switch {
		case b.Int() == 0:
			return record.Value{}
		case b.Int() != -1 || a.Int() != math.MinInt64:
			return record.OfInt(a.Int() / b.Int())
		}
	}
	if Float(b) == 0 {
		return record.Value{}
	}
	return record.OfFloat(Float(a) / Float(b))
}

// Remainder divides the integer parts. The result is a float unless both operands are integers.
func Remainder(a, b record.Value) record.Value {
	x, y := Number(a), Number(b)
	whole := x.Kind() == record.Integer && y.Kind() == record.Integer
	i, j := x.Int(), y.Int()
	if !whole {
		i, j = Integer(a), Integer(b)
	}
	if j == 0 {
		return record.Value{}
	}
	if j == -1 {
		j = 1
	}
	if whole {
		return record.OfInt(i % j)
	}
	return record.OfFloat(float64(i % j))
}

// Shift shifts to the left, or by a negative number to the right.
func Shift(a, by int64) int64 {
	switch {
	case by >= 64:
		return 0
	case by >= 0:
		return a << by
	case by > -64:
		return a >> -by
	case a < 0:
		return -1
	}
	return 0
}
