package osfile

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// A FaultError tells that mapped bytes could not be read: the file became shorter under the map, or the disk failed.
type FaultError struct {
	Name   string // of the file
	Offset int64  // in the file; on some systems that of the memory page
	Size   int64  // of the file after the fault, or -1
}

func (e *FaultError) Error() string {
	if e.Size >= 0 && e.Offset >= e.Size {
		return fmt.Sprintf("read %s: file shrank to %d bytes while offset %d was read", e.Name, e.Size, e.Offset)
	}
	return fmt.Sprintf("read %s: input/output error at offset %d", e.Name, e.Offset)
}

func (e *FaultError) Unwrap() error { return ErrFault }

// Arm makes a fault in this goroutine a panic that Catch can stop. It returns the setting before.
//
// A function that touches the bytes of a Mapping begins with
//
//	defer osfile.Catch(osfile.Arm(), &err)
//
// as a defer of its own: Catch must be the deferred function itself. Guards nest; a few nanoseconds, no allocation.
func Arm() (old bool) { return debug.SetPanicOnFault(true) }

// Catch restores what Arm returned. A fault in a live Mapping becomes a *FaultError in *err; any other panic goes on
// with the same value.
func Catch(old bool, err *error) {
	r := recover()
	debug.SetPanicOnFault(old)
	if r != nil {
		*err = faultOf(r)
	}
}

// faultOf returns the fault that the panic value tells of. If it tells of none in a live mapping, it panics anew.
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
	return &FaultError{Name: m.file.name, Offset: off, Size: m.file.sizeNow()}
}

// sizeNow returns the size of the file that bears the name, or -1.
func (f *File) sizeNow() int64 {
	if size, err := f.Size(); err == nil {
		return size
	}
	return -1
}
