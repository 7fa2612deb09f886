//go:build !unix

package main

import "io/fs"

// umask is what files that are made do not permit: here what is usual elsewhere.
var umask fs.FileMode = 0o022
