//go:build unix && !linux

package roottest

import (
	"os"
	"syscall"
	"time"
)

// errnoAttribute says that there is no such attribute.
const errnoAttribute = syscall.ENOATTR

// accessTime is not known: its field has many names.
func accessTime(*syscall.Stat_t) time.Time { return time.Time{} }

func rootXattrs(*os.Root, string) Xattrs { return nil }

// furtherFlags are flags of open that are only compared on Linux.
var furtherFlags []int
