package function

import (
	"math"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// An Aggregate takes the rows of one group, and then tells the result. Its zero value is ready.
// Values that it keeps are copies, so that a row may be reused.
type Aggregate interface {
	// Step takes the arguments for one row.
	Step(args []record.Value) error
	// Result tells the result for the rows so far.
	Result() (record.Value, error)
}

// NewAggregate returns an aggregate by its name in lower case, with a number of arguments. Min and
// max compare texts by a collation. It returns nil if there is none.
func NewAggregate(name string, args int, order value.Collation) Aggregate {
	switch {
	case name == "count" && args <= 1:
		return new(count)
	case args == 1:
		switch name {
		case "sum", "total", "avg":
			return &sum{name: name}
		case "min":
			return &extreme{order: order, sign: -1}
		case "max":
			return &extreme{order: order, sign: 1}
		case "group_concat":
			return new(joined)
		}
	case args == 2 && (name == "group_concat" || name == "string_agg"):
		return new(joined)
	}
	return nil
}

// count counts rows, or those whose argument is not NULL.
type count int64

func (c *count) Step(args []record.Value) error {
	if len(args) == 0 || args[0].Kind() != record.Null {
		*c++
	}
	return nil
}

func (c *count) Result() (record.Value, error) { return record.OfInt(int64(*c)), nil }

// sum adds integers exactly while there are no others. Then it adds floats as Kahan, Babuska and
// Neumaier did, with the error of each addition kept apart, so that the result does not depend on
// the order of the rows as much as a plain sum.
type sum struct {
	name     string
	n        int64
	whole    int64   // the sum, while all are integers and it has room
	float    float64 // the sum, if not
	lost     float64 // what float lacks
	isFloat  bool
	overflow bool // all were integers, and their sum has no room
}

func (s *sum) Step(args []record.Value) error {
	v := args[0]
	switch v.Kind() {
	case record.Null:
		return nil
	case record.Text:
		v = value.Numeric(v)
	}
	s.n++
	switch {
	case s.isFloat && v.Kind() == record.Integer:
		s.addInteger(v.Int())
	case s.isFloat:
		s.overflow = false
		s.add(value.Float(v))
	case v.Kind() != record.Integer:
		s.begin()
		s.add(value.Float(v))
	default:
		t := s.whole + v.Int()
		if (s.whole^t)&(v.Int()^t) >= 0 {
			s.whole = t
			return nil
		}
		s.overflow = true
		s.begin()
		s.addInteger(v.Int())
	}
	return nil
}

// exact is the size from which on an integer is added in two parts, as a float cannot hold all its
// bits. SQLite splits at the same place.
const exact = 1 << 52

// begin goes on with floats.
func (s *sum) begin() {
	s.isFloat = true
	s.float = float64(s.whole)
	if s.whole <= -exact || s.whole >= exact {
		low := s.whole % 16384
		s.float, s.lost = float64(s.whole-low), float64(low)
	}
}

func (s *sum) addInteger(i int64) {
	if i <= -exact || i >= exact {
		low := i % 16384
		s.add(float64(i - low))
		i = low
	}
	s.add(float64(i))
}

func (s *sum) add(f float64) {
	t := s.float + f
	if math.Abs(s.float) > math.Abs(f) {
		s.lost += (s.float - t) + f
	} else {
		s.lost += (f - t) + s.float
	}
	s.float = t
}

// total returns the sum as a float.
func (s *sum) total() float64 {
	switch {
	case !s.isFloat:
		return float64(s.whole)
	case math.IsInf(s.lost, 0) || math.IsNaN(s.lost):
		return s.float
	}
	return s.float + s.lost
}

func (s *sum) Result() (record.Value, error) {
	switch {
	case s.name == "total":
		return record.OfFloat(s.total()), nil
	case s.n == 0:
		return record.Value{}, nil
	case s.name == "avg":
		return record.OfFloat(s.total() / float64(s.n)), nil
	case s.overflow:
		return record.Value{}, ErrOverflow
	case s.isFloat:
		return record.OfFloat(s.total()), nil
	}
	return record.OfInt(s.whole), nil
}

// extreme is min or max of one argument. Of equal values it keeps the first.
type extreme struct {
	order value.Collation
	sign  int
	best  record.Value
}

func (x *extreme) Step(args []record.Value) error {
	v := args[0]
	if v.Kind() != record.Null && (x.best.Kind() == record.Null || value.Compare(v, x.best, x.order)*x.sign > 0) {
		x.best = v.Clone()
	}
	return nil
}

func (x *extreme) Result() (record.Value, error) { return x.best, nil }

// joined is group_concat: texts with a separator before each but the first, a comma unless an
// argument says so.
type joined struct {
	text []byte
	any  bool
}

func (j *joined) Step(args []record.Value) error {
	if args[0].Kind() == record.Null {
		return nil
	}
	if j.any {
		if len(args) == 2 {
			j.text = append(j.text, value.Text(args[1])...)
		} else {
			j.text = append(j.text, ',')
		}
	}
	j.any = true
	if j.text = append(j.text, value.Text(args[0])...); len(j.text) > value.MaxSize {
		return value.ErrTooBig
	}
	return nil
}

func (j *joined) Result() (record.Value, error) {
	if !j.any {
		return record.Value{}, nil
	}
	return record.OfText(j.text), nil
}
