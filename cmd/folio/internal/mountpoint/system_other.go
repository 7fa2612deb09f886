//go:build !linux

package mountpoint

import (
	"errors"
	"net"
	"runtime"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
)

// OtherWay is how volumes are served if they cannot be mounted.
const OtherWay = "serve the volume by WebDAV (folio serve)"

// Able says that volumes cannot be mounted here.
func Able() error {
	return failure.Rehint(errors.New("volumes are mounted on Linux only, and this is "+runtime.GOOS), OtherWay)
}

// Detach fails: nothing is mounted.
func Detach(string, Way) error { return errInUse }

func statfs(string) error { return nil }

func isStale(error) bool { return false }

func (*Mount) abort() error { return errInUse }

func listener(*net.UnixConn) int { return 0 }

func isDying(int) bool { return false }
