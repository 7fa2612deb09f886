package main

import "fmt"

// say keeps a line of --verbose until the change that it is about is committed.
func (s *streams) say(format string, names ...string) {
	escaped := make([]any, len(names))
	for i, name := range names {
		escaped[i] = escape(name)
	}
	s.said = append(s.said, fmt.Sprintf(format, escaped...))
}

// tell writes the lines that say has kept. After an error they are dropped.
func (s *streams) tell(err error) error {
	if err == nil {
		for _, line := range s.said {
			fmt.Fprintln(s.stdout, line)
		}
	}
	s.said = nil
	return err
}
