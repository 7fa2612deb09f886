package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/foliofs/folio/cmd/folio/internal/terminal"
)

var updateReference = flag.Bool("update", false, "write the reference of commands anew")

// reference has the help of every command, as the command prints it.
const reference = "../../docs/reference/commands.md"

// TestReference wants the page of the commands to say what their help says.
func TestReference(t *testing.T) {
	t.Parallel()
	want := commandReference(t)
	if *updateReference {
		if err := os.WriteFile(reference, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s differs from the help of the commands: go test ./cmd/folio -run TestReference -update writes it", reference)
	}
}

func commandReference(t *testing.T) []byte {
	t.Helper()
	var page bytes.Buffer
	page.WriteString("# Commands\n\nThis page has the help of every command, as `folio help COMMAND` prints it. " +
		"[The command](../howto/command.md) tells more.\n")
	root := (&command{Streams: terminal.New(strings.NewReader(""), io.Discard, io.Discard)}).root()
	root.InitDefaultHelpCmd()
	describe(t, &page, root)
	return page.Bytes()
}

// describe appends the help of a command and of all below it. It leaves out the commands of the
// library for help and completion.
func describe(t *testing.T, page *bytes.Buffer, cmd *cobra.Command) {
	t.Helper()
	if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
		return
	}
	var help bytes.Buffer
	cmd.SetOut(&help)
	if err := cmd.Help(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(page, "\n## %s\n\n```text\n%s\n```\n", cmd.CommandPath(), strings.TrimSpace(help.String()))
	for _, below := range cmd.Commands() {
		describe(t, page, below)
	}
}
