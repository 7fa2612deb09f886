package program

import (
	"math"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// run runs the program from an instruction on, in registers of which the first hold the constants.
// It returns the first call of a function that it comes to, or the end of the program. It calls
// none itself: the registers of a program without calls can be on the stack then.
func (p *Program) run(r []record.Value, row Row, pc int) (next int, err error) {
	for ; pc < len(p.code); pc++ {
		i := &p.code[pc]
		d, a, b := &r[i.d], &r[i.a], &r[i.b]
		switch i.op {
		case Add:
			if a.Kind() == record.Integer && b.Kind() == record.Integer {
				if sum := a.Int() + b.Int(); (a.Int()^sum)&(b.Int()^sum) >= 0 {
					*d = record.OfInt(sum)
					continue
				}
			}
			*d = binary(Add, *a, *b)
		case Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual:
			*d = compare(i, a, b)
		case opColumn:
			v, err := row.Column(int(i.immediate))
			if err != nil {
				return pc, err
			}
			*d = v
		case opMove:
			*d = *a
		case opCall:
			return pc, nil
		case Concat:
			if a.Kind() == record.Null || b.Kind() == record.Null {
				*d = record.Value{}
				continue
			}
			v, err := value.Concat(*a, *b)
			if err != nil {
				return pc, err
			}
			*d = v
		case opIn, opJump, opJumpTrue, opJumpNotTrue, opJumpFalse, opJumpNotNull:
			if i.jumps(d, a, b) {
				pc = int(i.immediate) - 1
			}
		case Is, IsNot, IsNull, NotNull, IsTrue, IsFalse, IsNotTrue, IsNotFalse:
			*d = value.OfBool(i.asks(*a, *b))
		case And, Or, Negate, Complement, Not, Cast:
			*d = i.compute(*a, *b)
		default:
			*d = binary(i.op, *a, *b)
		}
	}
	return pc, nil
}

// runCalls is run for a program with calls.
func (p *Program) runCalls(r []record.Value, row Row) error {
	for pc := 0; ; pc++ {
		var err error
		if pc, err = p.run(r, row, pc); err != nil || pc == len(p.code) {
			return err
		}
		i := &p.code[pc]
		if r[i.d], err = p.calls[i.immediate](r[i.a : i.a+i.b : i.a+i.b]); err != nil {
			return err
		}
	}
}

// binary computes an operation on numbers.
func binary(op Op, a, b record.Value) record.Value {
	if a.Kind() == record.Null || b.Kind() == record.Null {
		return record.Value{}
	}
	switch op {
	case Add:
		return value.Add(a, b)
	case Subtract:
		return value.Subtract(a, b)
	case Multiply:
		return value.Multiply(a, b)
	case Divide:
		return value.Divide(a, b)
	case Remainder:
		return value.Remainder(a, b)
	case BitAnd:
		return record.OfInt(value.Integer(a) & value.Integer(b))
	case BitOr:
		return record.OfInt(value.Integer(a) | value.Integer(b))
	case ShiftLeft:
		return record.OfInt(value.Shift(value.Integer(a), value.Integer(b)))
	}
	return record.OfInt(value.Shift(value.Integer(a), -max(value.Integer(b), -math.MaxInt64)))
}

// compare compares two values, after the affinity of the instruction was applied to both.
func compare(i *instruction, a, b *record.Value) record.Value {
	order := 0
	switch {
	case a.Kind() == record.Integer && b.Kind() == record.Integer:
		if a.Int() < b.Int() {
			order = -1
		} else if a.Int() > b.Int() {
			order = 1
		}
	case a.Kind() == record.Null || b.Kind() == record.Null:
		return record.Value{}
	default:
		order = value.CompareAs(*a, *b, i.affinity, i.order)
	}
	return value.OfBool(accepts(i.op, order))
}

// accepts reports whether a comparison is true of operands in an order.
func accepts(op Op, order int) bool {
	switch op {
	case Equal:
		return order == 0
	case NotEqual:
		return order != 0
	case Less:
		return order < 0
	case LessEqual:
		return order <= 0
	case Greater:
		return order > 0
	}
	return order >= 0
}

// asks answers an operation whose result is never NULL.
func (i *instruction) asks(a, b record.Value) bool {
	null := a.Kind() == record.Null
	switch i.op {
	case IsNull:
		return null
	case NotNull:
		return !null
	case IsTrue:
		return value.True(a)
	case IsFalse:
		return value.False(a)
	case IsNotTrue:
		return !value.True(a)
	case IsNotFalse:
		return !value.False(a)
	}
	same := null && b.Kind() == record.Null
	if !null && b.Kind() != record.Null {
		same = value.CompareAs(a, b, i.affinity, i.order) == 0
	}
	return same == (i.op == Is)
}

// compute computes an operation of one operand, or of logic.
func (i *instruction) compute(a, b record.Value) record.Value {
	switch i.op {
	case And:
		switch {
		case value.False(a) || value.False(b):
			return record.OfInt(0)
		case a.Kind() == record.Null || b.Kind() == record.Null:
			return record.Value{}
		}
		return record.OfInt(1)
	case Or:
		switch {
		case value.True(a) || value.True(b):
			return record.OfInt(1)
		case a.Kind() == record.Null || b.Kind() == record.Null:
			return record.Value{}
		}
		return record.OfInt(0)
	case Cast:
		return value.Cast(a, i.affinity)
	}
	if a.Kind() == record.Null {
		return a
	}
	switch i.op {
	case Negate:
		return value.Negate(a)
	case Complement:
		return value.Complement(a)
	}
	return value.OfBool(!value.True(a))
}

// jumps reports whether the program goes on elsewhere.
func (i *instruction) jumps(d, a, b *record.Value) bool {
	switch i.op {
	case opJumpTrue:
		return value.True(*a)
	case opJumpNotTrue:
		return !value.True(*a)
	case opJumpFalse:
		return value.False(*a)
	case opJumpNotNull:
		return a.Kind() != record.Null
	case opIn:
		switch {
		case a.Kind() == record.Integer && b.Kind() == record.Integer:
			if a.Int() != b.Int() {
				return false
			}
			*d = record.OfInt(1)
			return true
		case a.Kind() == record.Null || b.Kind() == record.Null:
			*d = record.Value{}
		case value.CompareAs(*a, *b, i.affinity, i.order) == 0:
			*d = record.OfInt(1)
			return true
		}
		return false
	}
	return true
}
