//go:build !cgo

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "crawshaw: no C compiler")
	os.Exit(1)
}
