//go:build !man

// Command folio keeps a directory tree in one SQLite database file, a volume, and gives it back.
//
// See docs/howto/command.md or folio help for its subcommands.
package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/foliofs/folio/cmd/folio/internal/interrupt"
)

func main() {
	ctx, stop := interrupt.Context(context.Background())
	code := runAs(ctx, filepath.Base(os.Args[0]))
	stop()
	os.Exit(code)
}

// runAs runs the program as it was called, and returns its exit code.
func runAs(ctx context.Context, name string) int {
	if name == helperName {
		return runHelper(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
