//go:build lab

package main

import _ "github.com/tailscale/sqlite"

func main() {}
