package function

import (
	"math"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// numberArg returns an argument of a mathematical function: a number, or a text that is one. ok is
// false for anything else.
func numberArg(v record.Value) (record.Value, bool) {
	if v.Kind() == record.Text {
		v = value.Numeric(v)
	}
	return v, v.Kind() == record.Integer || v.Kind() == record.Float
}

// ofOne is a function of one float. It returns NULL if the argument is not a number, and if the
// result is none.
func ofOne(fn func(x float64) float64) func(args []record.Value) (record.Value, error) {
	return func(args []record.Value) (record.Value, error) {
		v, ok := numberArg(args[0])
		if !ok {
			return record.Value{}, nil
		}
		return record.OfFloat(fn(v.Float64())), nil
	}
}

// ofTwo is a function of two floats.
func ofTwo(fn func(x, y float64) float64) func(args []record.Value) (record.Value, error) {
	return func(args []record.Value) (record.Value, error) {
		x, ok := numberArg(args[0])
		y, also := numberArg(args[1])
		if !ok || !also {
			return record.Value{}, nil
		}
		return record.OfFloat(fn(x.Float64(), y.Float64())), nil
	}
}

// rounding is ceil, floor or trunc, which leave an integer as it is.
func rounding(fn func(x float64) float64) func(args []record.Value) (record.Value, error) {
	return func(args []record.Value) (record.Value, error) {
		v, ok := numberArg(args[0])
		switch {
		case !ok:
			return record.Value{}, nil
		case v.Kind() == record.Integer:
			return v, nil
		}
		return record.OfFloat(fn(v.Float())), nil
	}
}

// logarithm is log: of base 10, or of the base that is its first argument.
func logarithm(args []record.Value) (record.Value, error) {
	x, ok := numberArg(args[0])
	if !ok || x.Float64() <= 0 {
		return record.Value{}, nil
	}
	if len(args) == 1 {
		return record.OfFloat(math.Log10(x.Float64())), nil
	}
	base := math.Log(x.Float64())
	y, ok := numberArg(args[1])
	if !ok || base <= 0 || y.Float64() <= 0 {
		return record.Value{}, nil
	}
	return record.OfFloat(math.Log(y.Float64()) / base), nil
}

// positive is a logarithm of one argument, NULL if that is not positive.
func positive(fn func(x float64) float64) func(args []record.Value) (record.Value, error) {
	return func(args []record.Value) (record.Value, error) {
		x, ok := numberArg(args[0])
		if !ok || x.Float64() <= 0 {
			return record.Value{}, nil
		}
		return record.OfFloat(fn(x.Float64())), nil
	}
}

func pi([]record.Value) (record.Value, error) { return record.OfFloat(math.Pi), nil }

func radians(x float64) float64 { return x * (math.Pi / 180) }
func degrees(x float64) float64 { return x * (180 / math.Pi) }

// mathematics are the functions of builds with SQLITE_ENABLE_MATH_FUNCTIONS. Results of functions
// like sin may differ from another C library in the last bit, as they do among C libraries.
var mathematics = map[string]Function{
	"acos":    {1, 1, ofOne(math.Acos)},
	"acosh":   {1, 1, ofOne(math.Acosh)},
	"asin":    {1, 1, ofOne(math.Asin)},
	"asinh":   {1, 1, ofOne(math.Asinh)},
	"atan":    {1, 1, ofOne(math.Atan)},
	"atan2":   {2, 2, ofTwo(math.Atan2)},
	"atanh":   {1, 1, ofOne(math.Atanh)},
	"ceil":    {1, 1, rounding(math.Ceil)},
	"ceiling": {1, 1, rounding(math.Ceil)},
	"cos":     {1, 1, ofOne(math.Cos)},
	"cosh":    {1, 1, ofOne(math.Cosh)},
	"degrees": {1, 1, ofOne(degrees)},
	"exp":     {1, 1, ofOne(math.Exp)},
	"floor":   {1, 1, rounding(math.Floor)},
	"ln":      {1, 1, positive(math.Log)},
	"log":     {1, 2, logarithm},
	"log10":   {1, 1, positive(math.Log10)},
	"log2":    {1, 1, positive(math.Log2)},
	"mod":     {2, 2, ofTwo(math.Mod)},
	"pi":      {0, 0, pi},
	"pow":     {2, 2, ofTwo(math.Pow)},
	"power":   {2, 2, ofTwo(math.Pow)},
	"radians": {1, 1, ofOne(radians)},
	"sin":     {1, 1, ofOne(math.Sin)},
	"sinh":    {1, 1, ofOne(math.Sinh)},
	"sqrt":    {1, 1, ofOne(math.Sqrt)},
	"tan":     {1, 1, ofOne(math.Tan)},
	"tanh":    {1, 1, ofOne(math.Tanh)},
	"trunc":   {1, 1, rounding(math.Trunc)},
}
