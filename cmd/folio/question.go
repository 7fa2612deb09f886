package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
)

var errNoTerminal = errors.New("--interactive asks on a terminal, and standard input is none")

// A questioner asks the user, on a terminal.
type questioner struct {
	*streams
	in *bufio.Reader
}

// newQuestioner returns errNoTerminal if standard input is no terminal.
func (s *streams) newQuestioner() (*questioner, error) {
	if !isTerminal(s.stdin) {
		return nil, errNoTerminal
	}
	return &questioner{s, bufio.NewReader(s.stdin)}, nil
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
