package main

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

var errNoTerminal = errors.New("--interactive asks on a terminal, and standard input is none")

// A questioner asks the user, on a terminal.
type questioner struct {
	*command
	in *bufio.Reader
}

// newQuestioner returns errNoTerminal if standard input is no terminal.
func (c *command) newQuestioner() (*questioner, error) {
	if !isTerminal(c.stdin) {
		return nil, errNoTerminal
	}
	return &questioner{c, bufio.NewReader(c.stdin)}, nil
}

// ask reports whether the user said yes.
func (q *questioner) ask(format string, names ...string) bool {
	escaped := make([]any, len(names))
	for i, name := range names {
		escaped[i] = escape(name)
	}
	fmt.Fprintf(q.stderr, "folio: "+format+" ", escaped...)
	answer, _ := q.in.ReadString('\n')
	return strings.HasPrefix(answer, "y") || strings.HasPrefix(answer, "Y")
}

// lastWins adds a flag that undoes another, so that the last one on the command line counts.
func lastWins(flags *pflag.FlagSet, value, other *bool, name, short, usage string) {
	flags.BoolFuncP(name, short, usage, func(text string) (err error) {
		if *value, err = strconv.ParseBool(text); *value {
			*other = false
		}
		return err
	})
}
