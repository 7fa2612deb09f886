// Command folio keeps a directory tree in one SQLite database file, a volume, and gives it back.
//
// See docs/command.md or folio help for its subcommands.
package main

import (
	"context"
	"os"

	"github.com/foliofs/folio/cmd/folio/internal/interrupt"
)

func main() {
	ctx, stop := interrupt.Context(context.Background())
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
