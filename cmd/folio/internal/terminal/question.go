package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/quote"
)

var errNoTerminal = errors.New("--interactive asks on a terminal, and standard input is none")

// A Questioner asks the user, on a terminal.
type Questioner struct {
	*Streams
	in *bufio.Reader
}

// NewQuestioner returns errNoTerminal if standard input is no terminal.
func (s *Streams) NewQuestioner() (*Questioner, error) {
	if !isTerminal(s.Stdin) {
		return nil, errNoTerminal
	}
	return &Questioner{s, bufio.NewReader(s.Stdin)}, nil
}

// Ask reports whether the user said yes.
func (q *Questioner) Ask(format string, names ...string) bool {
	escaped := make([]any, len(names))
	for i, name := range names {
		escaped[i] = quote.Escape(name)
	}
	fmt.Fprintf(q.Stderr, "folio: "+format+" ", escaped...)
	answer, _ := q.in.ReadString('\n')
	return strings.HasPrefix(answer, "y") || strings.HasPrefix(answer, "Y")
}
