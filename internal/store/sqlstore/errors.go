package sqlstore

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/foliofs/folio/internal/store"
)

// Result codes of SQLite that a caller of a volume can tell apart.
const (
	codeError    = 1
	codeBusy     = 5
	codeLocked   = 6
	codeNoMemory = 7
	codeReadOnly = 8
	codeStopped  = 9
	codeIO       = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeProtocol = 15
)

// codeOf returns the primary result code that an error of a driver carries, 0 if it does not tell.
// Drivers agree on a name for it, not on a type: the errors of modernc and glebarez have a method
// Code that returns an int, those of mattn a field, those of ncruces a method that returns an
// ErrorCode of its own, which may also be all that there is of an error.
func codeOf(err error) int {
	if err == nil {
		return 0
	}
	if code := codeIn(reflect.ValueOf(err)); code != 0 {
		return code & 0xff
	}
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range list.Unwrap() {
			if code := codeOf(err); code != 0 {
				return code
			}
		}
		return 0
	}
	return codeOf(errors.Unwrap(err))
}

// codeIn returns the result of method Code of v, or field Code of v, or v itself if it is an
// ErrorCode; otherwise 0.
func codeIn(v reflect.Value) int {
	if strings.HasSuffix(v.Type().Name(), "ErrorCode") {
		return integer(v)
	}
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

func isBusy(err error) bool { return meanings[codeOf(err)] == store.ErrBusy }

// endsTransaction reports whether an error is one after which SQLite may have rolled the
// transaction back by itself.
func endsTransaction(err error) bool {
	switch codeOf(err) {
	case codeNoMemory, codeStopped, codeIO, codeFull:
		return true
	}
	return false
}

// meanings are the errors of package store for result codes.
var meanings = map[int]error{
	codeBusy:     store.ErrBusy,
	codeLocked:   store.ErrBusy,
	codeProtocol: store.ErrBusy,
	codeReadOnly: store.ErrReadOnly,
	codeFull:     store.ErrFull,
	codeCorrupt:  store.ErrDamaged,
}

// explain lets an error of a driver match the one of package store that means the same.
func explain(err error) error {
	meaning := meanings[codeOf(err)]
	if meaning == nil || errors.Is(err, meaning) {
		return err
	}
	return fmt.Errorf("%w (%w)", meaning, err)
}
