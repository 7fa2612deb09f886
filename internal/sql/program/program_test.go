package program

import (
	"errors"
	"fmt"
	"testing"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// results are of 7 and 2, of 0 and 2, of NULL and 2, and of NULL and NULL.
var results = map[Op][4]string{
	Add: {"9", "2", "NULL", "NULL"}, Subtract: {"5", "-2", "NULL", "NULL"}, Multiply: {"14", "0", "NULL", "NULL"},
	Divide: {"3", "0", "NULL", "NULL"}, Remainder: {"1", "0", "NULL", "NULL"}, BitAnd: {"2", "0", "NULL", "NULL"},
	BitOr: {"7", "2", "NULL", "NULL"}, ShiftLeft: {"28", "0", "NULL", "NULL"}, ShiftRight: {"1", "0", "NULL", "NULL"},
	Concat: {"72", "02", "NULL", "NULL"}, Equal: {"0", "0", "NULL", "NULL"}, NotEqual: {"1", "1", "NULL", "NULL"},
	Less: {"0", "1", "NULL", "NULL"}, LessEqual: {"0", "1", "NULL", "NULL"}, Greater: {"1", "0", "NULL", "NULL"},
	GreaterEqual: {"1", "0", "NULL", "NULL"}, Is: {"0", "0", "0", "1"}, IsNot: {"1", "1", "1", "0"},
	IsNull: {"0", "0", "1", "1"}, NotNull: {"1", "1", "0", "0"}, IsTrue: {"1", "0", "0", "0"}, IsFalse: {"0", "1", "0", "0"},
	IsNotTrue: {"0", "1", "1", "1"}, IsNotFalse: {"1", "0", "1", "1"}, And: {"1", "0", "NULL", "NULL"}, Or: {"1", "1", "1", "NULL"},
	Negate: {"-7", "0", "NULL", "NULL"}, Complement: {"-8", "-1", "NULL", "NULL"}, Not: {"0", "1", "NULL", "NULL"},
	Cast: {"7", "0", "NULL", "NULL"},
}

// TestOperations computes each operation.
func TestOperations(t *testing.T) {
	t.Parallel()
	null := record.Value{}
	operands := [4][2]record.Value{{record.OfInt(7), record.OfInt(2)}, {record.OfInt(0), record.OfInt(2)}, {null, record.OfInt(2)}, {null, null}}
	for op := Add; op < opColumn; op++ {
		want, ok := results[op]
		if !ok {
			t.Errorf("operation %d is in no test", op)
		}
		for i, o := range operands {
			var b Builder
			x, y, d := b.Constant(o[0]), b.Constant(o[1]), b.Alloc()
			b.Compare(op, d, x, y, value.NoAffinity, value.NoCollation)
			p, err := b.Program(d)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := p.Eval(nil); err != nil || v.String() != want[i] {
				t.Errorf("operation %d of %v: %v, %v, want %s", op, o, v, err, want[i])
			}
		}
	}
}

type columns []record.Value

var errColumn = errors.New("no such column")

func (c columns) Column(i int) (record.Value, error) {
	if i >= len(c) {
		return record.Value{}, errColumn
	}
	return c[i], nil
}

// TestFlow jumps, calls and fails.
func TestFlow(t *testing.T) {
	t.Parallel()
	var b Builder
	d := b.Alloc()
	x := b.Column(0)
	notTrue, null := b.JumpNotTrue(x), b.JumpNotNull(x)
	b.Land(null)
	first := b.Mark()
	for i := range 30 { // more registers than have room on the stack
		b.Move(b.Alloc(), b.Constant(record.OfInt(int64(i))))
	}
	b.Call(func(args []record.Value) (record.Value, error) {
		if n := args[29].Int(); n != 29 {
			return record.Value{}, fmt.Errorf("the last argument is %d", n)
		}
		return record.OfInt(int64(len(args))), nil
	}, d, first, 30)
	end := b.Jump()
	b.Land(notTrue)
	b.Move(d, b.Column(1))
	b.Land(end)
	p, err := b.Program(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		row  columns
		want string
		err  error
	}{
		{columns{record.OfInt(1)}, "30", nil},
		{columns{record.OfInt(0), record.OfInt(5)}, "5", nil},
		{columns{record.OfInt(0)}, "NULL", errColumn},
	} {
		v, err := p.Eval(c.row)
		if !errors.Is(err, c.err) || err == nil && v.String() != c.want {
			t.Errorf("%v: %v, %v, want %s, %v", c.row, v, err, c.want, c.err)
		}
	}
}

// TestTooLarge wants an error for a program with more registers than an instruction can name.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	var b Builder
	for range half {
		b.Alloc()
	}
	if _, err := b.Program(0); !errors.Is(err, errTooLarge) {
		t.Errorf("%v", err)
	}
}
