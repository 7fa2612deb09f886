//go:build pins

package oracle

// This file is never built. It keeps in go.mod the module whose testdata the fuzzdata test replays.
import _ "modernc.org/sqlite"
