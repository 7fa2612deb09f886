//go:build !unix

package runner

import (
	"context"
	"os"
)

// Without the locks of POSIX, the system itself refuses to read a range that another process has
// locked.

func lockShared(context.Context, *os.File) error { return nil }

func keepLog(context.Context, string) (release func(), err error) { return func() {}, nil }

func reserved(*os.File) (bool, error) { return false, nil }
