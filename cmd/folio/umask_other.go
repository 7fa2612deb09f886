//go:build !unix

package main

import "io/fs"

// umask are the permissions that new files do not get. This is the usual value on other systems.
var umask fs.FileMode = 0o022
