//go:build cgo

package main

import _ "github.com/mattn/go-sqlite3"

func init() { drivers = append(drivers, driver{"sqlite3", "mattn"}) }
