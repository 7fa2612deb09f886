//go:build cgo

package walreset

/*
// The driver compiles this; weak, because this package alone must link as well.
int sqlite3_test_control(int op, ...) __attribute__((weak));

extern int walresetFault(int code);

static int install(void) { return sqlite3_test_control(9, walresetFault); } // SQLITE_TESTCTRL_FAULT_INSTALL
*/
import "C"

import (
	"fmt"
	"sync/atomic"

	_ "github.com/mattn/go-sqlite3" // C SQLite
)

// faultCheckpoint is where a checkpointer has read the header of the wal-index and looked at
// nothing else.
const faultCheckpoint = 660

// atFault runs there, once; nil for nothing.
var atFault atomic.Pointer[func()]

//export walresetFault
func walresetFault(code C.int) C.int {
	if code == faultCheckpoint {
		if fn := atFault.Swap(nil); fn != nil {
			(*fn)()
		}
	}
	return 0
}

// stopCheckpoint lets the next checkpoint of C SQLite in this process call fn.
func stopCheckpoint(fn func()) error {
	atFault.Store(&fn)
	if rc := C.install(); rc != 0 {
		return fmt.Errorf("sqlite3_test_control: %d", rc)
	}
	return nil
}
