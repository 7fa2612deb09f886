package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version names the build: the module's version, or the revision that it was built from.
func version() string {
	name := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		name = info.Main.Version
	}
	return fmt.Sprintf("folio %s %s %s/%s", name, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
