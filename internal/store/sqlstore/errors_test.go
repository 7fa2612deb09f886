package sqlstore

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/store"
)

// The shapes of the drivers' errors.
type (
	methodError struct{ code int }
	fieldNumber int
	fieldError  struct {
		Code         fieldNumber
		ExtendedCode int
	}
	ErrorCode  uint16
	typedError struct{ code ErrorCode }
	otherError struct{ Code string }
)

func (e *methodError) Error() string    { return "method" }
func (e *methodError) Code() int        { return e.code }
func (e fieldError) Error() string      { return "field" }
func (e ErrorCode) Error() string       { return "code" }
func (e *typedError) Error() string     { return "typed" }
func (e *typedError) Code() ErrorCode   { return e.code }
func (e *otherError) Error() string     { return "other" }
func (e *methodError) Unwrap() error    { return syscall.EIO }
func (e *otherError) Is(err error) bool { return false }

func TestCodeOf(t *testing.T) {
	t.Parallel()
	const busySnapshot = codeBusy | 2<<8
	for _, err := range []error{
		&methodError{busySnapshot},
		fieldError{Code: codeBusy},
		&fieldError{Code: codeBusy}, ErrorCode(busySnapshot), &typedError{busySnapshot},
		fmt.Errorf("wrapped: %w", &methodError{codeBusy}), errors.Join(fs.ErrClosed, fieldError{Code: codeBusy}),
	} {
		if code := codeOf(err); code != codeBusy {
			t.Errorf("%T: %d", err, code)
		}
		if !isBusy(err) || !errors.Is(explain(err), store.ErrBusy) || !errors.Is(explain(err), err) {
			t.Errorf("%T is not busy", err)
		}
	}
	for _, err := range []error{nil, fs.ErrClosed, syscall.Errno(5), &otherError{"5"}, &fs.PathError{Op: "open", Err: syscall.Errno(5)}, errors.Join()} {
		if code := codeOf(err); code != 0 || isBusy(err) || explain(err) != err {
			t.Errorf("%T: %d", err, code)
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]error{
		codeBusy: store.ErrBusy, codeLocked: store.ErrBusy, codeFull: store.ErrFull, codeReadOnly: store.ErrReadOnly, codeCorrupt: store.ErrDamaged,
	} {
		err := &methodError{code}
		got := explain(err)
		if !errors.Is(got, want) || !errors.Is(got, error(err)) {
			t.Errorf("%d: %v, want %v", code, got, want)
		}
		if again := explain(got); again != got {
			t.Errorf("%d: explained twice: %v", code, again)
		}
	}
}
