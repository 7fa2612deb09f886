// Package program evaluates expressions: each is a program over registers that hold values. It
// computes as SQLite 3.53 does, to the last bit.
//
// A [Builder] makes a program. For example, a + 2 * b, where a and b are columns 0 and 1, is
//
//	b.Column(0)                                 r0 = column 0
//	b.Constant(two); b.Column(1)                r1 = column 1
//	b.Binary(program.Multiply, two, r1)         r1 = 2 * r1
//	b.Binary(program.Add, r0, r1)               r0 = r0 + r1
//
// ADR 37 tells why a program is not a tree of functions.
package program

import (
	"slices"
	"sync"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// A Row gives a program the values of its columns. Which numbers the columns have is between the
// maker of the program and the Row.
type Row interface {
	Column(i int) (record.Value, error)
}

// A Func is called with the registers of its arguments, which it must not keep.
type Func func(args []record.Value) (record.Value, error)

// A Program computes one value. It is immutable and safe for concurrent use.
//
// The first registers hold the constants, in order.
type Program struct {
	code      []instruction
	constants []record.Value
	calls     []Func
	registers int // of all, constants included
	result    uint16
}

// An instruction computes register d of registers a and b, or jumps.
type instruction struct {
	op        Op
	order     value.Collation
	affinity  value.Affinity
	d, a, b   uint16
	immediate int32 // a column, a function, or the instruction to jump to
}

// An Op is an operation on one or two values.
type Op uint8

// The operations. Unless it says otherwise, the result is NULL if an operand is.
const (
	Add Op = iota
	Subtract
	Multiply
	Divide
	Remainder
	BitAnd
	BitOr
	ShiftLeft
	ShiftRight
	Concat
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	Is    // never NULL, as are the next seven
	IsNot // and true of NULL and NULL for Is
	IsNull
	NotNull
	IsTrue
	IsFalse
	IsNotTrue
	IsNotFalse
	And // NULL only if the other operand does not decide
	Or
	Negate
	Complement
	Not
	Cast // to the affinity of the instruction

	opColumn
	opMove
	opCall // function immediate with b registers from a on
	opIn   // d becomes 1 and the program jumps if a is b; d becomes NULL if it is not known
	opJump
	opJumpTrue    // if a is true
	opJumpNotTrue // if a is false or NULL
	opJumpFalse   // if a is false
	opJumpNotNull
)

// small is how many registers need no memory of their own.
const small = 12

// machines are registers for programs that call functions.
var machines = sync.Pool{New: func() any { return new([]record.Value) }}

// Eval returns the value of the program for a row. It returns the error of the row or of a
// function.
func (p *Program) Eval(row Row) (record.Value, error) {
	if p.registers <= small && p.calls == nil {
		var r [small]record.Value
		copy(r[:], p.constants)
		if _, err := p.run(r[:], row, 0); err != nil {
			return record.Value{}, err
		}
		return r[p.result], nil
	}
	m := machines.Get().(*[]record.Value)
	defer machines.Put(m)
	*m = append((*m)[:0], p.constants...)
	r := slices.Grow(*m, p.registers-len(p.constants))[:p.registers]
	*m = r
	if err := p.runCalls(r, row); err != nil {
		return record.Value{}, err
	}
	return r[p.result], nil
}

// Registers returns registers for [Program.Run].
func (p *Program) Registers() []record.Value {
	r := make([]record.Value, p.registers)
	copy(r, p.constants)
	return r
}

// Run is [Program.Eval] with registers of the caller's, which no other call may use at that time.
func (p *Program) Run(r []record.Value, row Row) (record.Value, error) {
	if err := p.runCalls(r, row); err != nil {
		return record.Value{}, err
	}
	return r[p.result], nil
}
