//go:build pins

package oracle

// This file is never built. It keeps in go.mod the modules whose testdata tests replay.
import (
	_ "github.com/sqlc-dev/meyer/parser"
	_ "modernc.org/sqlite"
)
