package program

import (
	"errors"
	"math"
	"slices"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// A Reg is where a value is while a program is made: a register, or a constant.
type Reg int32

// constant reports whether r is a constant. These have negative numbers until [Builder.Program].
func (r Reg) constant() bool { return r < 0 }

// errTooLarge is for a program that needs more registers or instructions than there are.
var errTooLarge = errors.New("not supported yet: an expression with more than 32,000 values")

// A Builder makes a program. Its registers are a stack: [Builder.Mark] and [Builder.Release] tell
// which of them are in use. An operation may write to a register that it reads.
type Builder struct {
	p    Program
	next Reg // the first register that is not in use
	most Reg
}

// Mark returns the height of the stack.
func (b *Builder) Mark() Reg { return b.next }

// Release gives back all registers from mark on. Their values stay until they are used again.
func (b *Builder) Release(mark Reg) { b.next = mark }

// Alloc takes a register.
func (b *Builder) Alloc() Reg {
	r := b.next
	b.next++
	b.most = max(b.most, b.next)
	return r
}

// Constant returns a constant.
func (b *Builder) Constant(v record.Value) Reg {
	b.p.constants = append(b.p.constants, v)
	return Reg(-len(b.p.constants))
}

// Column reads a column into a new register.
func (b *Builder) Column(i int) Reg {
	d := b.Alloc()
	b.emit(instruction{op: opColumn, immediate: int32(i)}, d, d, d)
	return d
}

// Unary writes the result of an operation on x to d. Cast takes the affinity.
func (b *Builder) Unary(op Op, d, x Reg, affinity value.Affinity) {
	b.emit(instruction{op: op, affinity: affinity}, d, x, x)
}

// Binary writes the result of an operation on x and y to d.
func (b *Builder) Binary(op Op, d, x, y Reg) { b.emit(instruction{op: op}, d, x, y) }

// Compare writes the result of a comparison to d. It applies an affinity to both operands before,
// and compares texts by a collation.
func (b *Builder) Compare(op Op, d, x, y Reg, affinity value.Affinity, order value.Collation) {
	b.emit(instruction{op: op, affinity: affinity, order: order}, d, x, y)
}

// Move copies x to d.
func (b *Builder) Move(d, x Reg) {
	if d != x {
		b.emit(instruction{op: opMove}, d, x, x)
	}
}

// Call calls a function with n registers from first on, and writes its result to d.
func (b *Builder) Call(fn Func, d, first Reg, n int) {
	b.p.calls = append(b.p.calls, fn)
	i := b.emit(instruction{op: opCall, immediate: int32(len(b.p.calls) - 1)}, d, first, first)
	b.p.code[i].b = uint16(n)
}

// A Jump is an instruction that jumps to a place that [Builder.Land] tells later.
type Jump int

// Jump jumps always.
func (b *Builder) Jump() Jump { return b.emit(instruction{op: opJump}, 0, 0, 0) }

// JumpTrue jumps if x is true.
func (b *Builder) JumpTrue(x Reg) Jump { return b.emit(instruction{op: opJumpTrue}, 0, x, x) }

// JumpNotTrue jumps if x is false or NULL.
func (b *Builder) JumpNotTrue(x Reg) Jump { return b.emit(instruction{op: opJumpNotTrue}, 0, x, x) }

// JumpFalse jumps if x is false, and not if it is NULL.
func (b *Builder) JumpFalse(x Reg) Jump { return b.emit(instruction{op: opJumpFalse}, 0, x, x) }

// JumpNotNull jumps if x is not NULL.
func (b *Builder) JumpNotNull(x Reg) Jump { return b.emit(instruction{op: opJumpNotNull}, 0, x, x) }

// In compares x with one value y of a list. If they are equal, d becomes 1 and it jumps. If that is
// not known, d becomes NULL.
func (b *Builder) In(d, x, y Reg, affinity value.Affinity, order value.Collation) Jump {
	return b.emit(instruction{op: opIn, affinity: affinity, order: order}, d, x, y)
}

// Land lets jumps go to the next instruction.
func (b *Builder) Land(jumps ...Jump) {
	for _, j := range jumps {
		b.p.code[j].immediate = int32(len(b.p.code))
	}
}

// emit appends an instruction. Its operands are numbers of registers until the end, when it is
// known how many constants come before them.
func (b *Builder) emit(i instruction, d, x, y Reg) Jump {
	i.d, i.a, i.b = operand(d), operand(x), operand(y)
	b.p.code = append(b.p.code, i)
	return Jump(len(b.p.code) - 1)
}

// half divides the numbers of operands: constants are from here on.
const half = 1 << 15

func operand(r Reg) uint16 {
	if r.constant() {
		return uint16(half + int(-r) - 1)
	}
	return uint16(r)
}

// Program returns the program whose value is in a register at its end.
func (b *Builder) Program(result Reg) (*Program, error) {
	p := &b.p
	n := len(p.constants)
	if n+int(b.most) >= half || len(p.code) > math.MaxInt32 {
		return nil, errTooLarge
	}
	place := func(o uint16) uint16 {
		if o >= half {
			return o - half
		}
		return o + uint16(n)
	}
	for k := range p.code {
		i := &p.code[k]
		i.d, i.a = place(i.d), place(i.a)
		if i.op != opCall {
			i.b = place(i.b)
		}
	}
	p.result = place(operand(result))
	p.registers = n + int(b.most) + 1 // instructions that use fewer operands name register 0
	p.code = slices.Clip(p.code)
	return p, nil
}
