package folio

import (
	"bytes"
	"runtime"
	"strconv"
	"sync/atomic"
)

// An updater knows the goroutine that runs a function of the caller within a write transaction. A
// call of the volume by that goroutine would wait for the end of the transaction, which waits for
// the call.
type updater struct {
	goroutine atomic.Int64 // 0 while there is none
}

// enter notes that this goroutine runs a function of the caller. The function that it returns takes
// that back.
func (u *updater) enter() (leave func()) {
	u.goroutine.Store(goroutineID())
	return func() { u.goroutine.Store(0) }
}

// mayWait returns ErrInUpdate if this goroutine would wait for itself.
func (u *updater) mayWait() error {
	if id := u.goroutine.Load(); id != 0 && id == goroutineID() {
		return ErrInUpdate
	}
	return nil
}

// goroutineID returns the number of the calling goroutine, which only a stack trace tells:
// "goroutine 7 [running]:".
func goroutineID() int64 {
	var buf [40]byte
	text := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(text, []byte(" "))
	id, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return -1 // no goroutine is known to be this one
	}
	return id
}
