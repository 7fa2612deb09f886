package serve_test

import "runtime"

// diskKnown says that a server knows how much space a disk has.
var diskKnown = runtime.GOOS == "linux" || runtime.GOOS == "darwin" || runtime.GOOS == "freebsd"
