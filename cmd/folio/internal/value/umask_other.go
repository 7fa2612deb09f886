//go:build !unix

package value

import "io/fs"

// Umask are the permissions that new files do not get. This is the usual value on other systems.
var Umask fs.FileMode = 0o022
