// Command lab measures, on the user's own machine, SQLite and files, drivers of SQLite, raw and
// prepared statements, numbers of goroutines, and promises of durability.
//
//	go -C lab run . list
//	go -C lab run . run --quick
//
// README.md says more.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	home, err := goToUser()
	if err != nil {
		fmt.Fprintf(os.Stderr, "lab: %s\n", err)
		os.Exit(exitFailure)
	}
	code := run(ctx, home, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
