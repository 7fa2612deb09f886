//go:build cgo

package main

import (
	_ "github.com/mattn/go-sqlite3"

	"github.com/foliofs/folio/lab/contender/sqlstore/tree"
)

func init() { apis = append(apis, tree.APIs("sqlite3", "mattn")...) }
