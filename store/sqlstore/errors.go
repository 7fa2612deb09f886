package sqlstore

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/foliofs/folio/store"
)

// Result codes of SQLite that mean something to whoever uses a volume.
const (
	codeError    = 1
	codeBusy     = 5
	codeLocked   = 6
	codeReadOnly = 8
	codeCorrupt  = 11
	codeFull     = 13
	codeProtocol = 15
)

// codeOf returns the primary result code that an error of a driver carries, 0 if it does not tell. Drivers agree on a name for it, not on a
// type: those of modernc and glebarez have a method Code that returns an int, that of ncruces one that returns a type of its own, that of
// mattn a field.
func codeOf(err error) int {
	for ; err != nil; err = errors.Unwrap(err) {
		if e, ok := err.(interface{ Code() int }); ok {
			return e.Code() & 0xff
		}
		if code := codeIn(reflect.ValueOf(err)); code != 0 {
			return code & 0xff
		}
	}
	return 0
}

// codeIn returns what the method or the field Code of v holds, 0 if it has neither.
func codeIn(v reflect.Value) int {
	code := v.MethodByName("Code")
	if code.IsValid() && code.Type().NumIn() == 0 && code.Type().NumOut() == 1 {
		return integer(code.Call(nil)[0])
	}
	v = reflect.Indirect(v)
	if v.Kind() != reflect.Struct {
		return 0
	}
	return integer(v.FieldByName("Code"))
}

func integer(v reflect.Value) int {
	switch {
	case !v.IsValid():
		return 0
	case v.CanInt():
		return int(v.Int())
	case v.CanUint():
		return int(v.Uint())
	}
	return 0
}

func isBusy(err error) bool {
	if err == nil {
		return false
	}
	switch codeOf(err) {
	case codeBusy, codeLocked, codeProtocol:
		return true
	}
	return errors.Is(err, store.ErrBusy)
}

// explain lets an error of a driver match the one of package store that means the same.
func explain(err error) error {
	if err == nil {
		return nil
	}
	switch codeOf(err) {
	case codeBusy, codeLocked, codeProtocol:
		return fmt.Errorf("%w (%w)", store.ErrBusy, err)
	case codeReadOnly:
		return fmt.Errorf("%w (%w)", store.ErrReadOnly, err)
	case codeFull:
		return fmt.Errorf("%w (%w)", store.ErrFull, err)
	case codeCorrupt:
		return fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return err
}
