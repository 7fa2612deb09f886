package osfile

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// A FaultError tells that mapped bytes could not be read: the file became shorter under the map, or
// the disk failed.
type FaultError struct {
	Name   string // of the file
	Offset int64  // in the file; on some systems the offset of the memory page
	Size   int64  // of the file after the fault; -1 if its File is closed
}

func (e *FaultError) Error() string { return fmt.Sprintf("read %s: %s", e.Name, e.What()) }

// What returns only the cause, without the name of the file. For example, "mapped bytes at offset
// 4096 could not be read".
func (e *FaultError) What() string {
	if e.Size >= 0 && e.Offset >= e.Size {
		return fmt.Sprintf("file shrank to %d bytes, offset %d is gone", e.Size, e.Offset)
	}
	return fmt.Sprintf("mapped bytes at offset %d could not be read", e.Offset)
}

func (e *FaultError) Unwrap() error { return ErrFault }

// Arm makes a fault in this goroutine a panic that Catch can stop. It returns the setting before.
//
// A function that touches the bytes of a Mapping begins with
//
//	defer osfile.Catch(osfile.Arm(), &err)
//
// as a defer of its own: Catch must be the deferred function itself. Guards nest; a few
// nanoseconds, no allocation.
func Arm() (old bool) { return debug.SetPanicOnFault(true) }

// Catch restores the value that Arm returned. A fault in a live Mapping becomes a *FaultError in
// *err; any other panic goes on with the same value. The guarded function is left in the middle, so
// it must use defer for anything that it must undo.
func Catch(old bool, err *error) {
	r := recover()
	debug.SetPanicOnFault(old)
	if r != nil {
		*err = faultOf(r)
	}
}

// faultOf returns the fault of a panic value. If the value is not a fault in a live mapping,
// faultOf panics with it again.
func faultOf(r any) error {
	fault, ok := r.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok {
		panic(r)
	}
	m, off := live.find(fault.Addr())
	if m == nil {
		panic(r)
	}
	size, err := m.file.Size()
	if err != nil {
		size = -1
	}
	return &FaultError{Name: m.file.name, Offset: off, Size: size}
}
