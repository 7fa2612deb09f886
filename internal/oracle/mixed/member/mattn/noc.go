//go:build !cgo

package main

import "log"

func main() { log.Fatal("there is no C compiler") }
