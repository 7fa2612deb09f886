//go:build man

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/foliofs/folio/cmd/folio/internal/terminal"
)

// This main is built with the tag man, for a release only. With a directory, a version and a date
// as its arguments, it writes the man pages of folio and of all its commands; with others, it is
// folio.
func main() {
	if len(os.Args) != 4 {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if err := writeMan(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitFailure)
	}
}

func writeMan(dir, version, date string) error {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return err
	}
	root := (&command{Streams: terminal.New(os.Stdin, os.Stdout, os.Stderr)}).root()
	plain(root)
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &day, Source: "Folio " + version, Manual: "Folio"}, dir)
}

// plain leaves out the words of the library about itself on each page.
func plain(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	for _, c := range cmd.Commands() {
		plain(c)
	}
}
