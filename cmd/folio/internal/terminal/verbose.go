package terminal

import (
	"fmt"

	"github.com/foliofs/folio/cmd/folio/internal/quote"
)

// Say keeps a line of --verbose until the change that it is about is committed.
func (s *Streams) Say(format string, names ...string) {
	escaped := make([]any, len(names))
	for i, name := range names {
		escaped[i] = quote.Escape(name)
	}
	s.said = append(s.said, fmt.Sprintf(format, escaped...))
}

// Tell writes the lines that Say has kept. After an error they are dropped.
func (s *Streams) Tell(err error) error {
	if err == nil {
		for _, line := range s.said {
			fmt.Fprintln(s.Stdout, line)
		}
	}
	s.said = nil
	return err
}
