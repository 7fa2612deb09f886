// Command lab measures what to use: SQLite or files, which driver, raw or prepared, how many goroutines, which durability; and
// what all of it costs, on the reader's own machine.
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
	context.AfterFunc(ctx, stop) // who cannot wait for us to clean up interrupts again
	home, err := goToUser()
	if err != nil {
		fmt.Fprintf(os.Stderr, "lab: %s\n", err)
		os.Exit(exitFailure)
	}
	code := run(ctx, home, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
