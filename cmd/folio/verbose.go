package main

import "fmt"

// say keeps a line of --verbose until what it says is committed.
func (c *command) say(format string, names ...string) {
	escaped := make([]any, len(names))
	for i, name := range names {
		escaped[i] = escape(name)
	}
	c.said = append(c.said, fmt.Sprintf(format, escaped...))
}

// tell writes the lines that say has kept. After an error they are dropped.
func (c *command) tell(err error) error {
	if err == nil {
		for _, line := range c.said {
			fmt.Fprintln(c.stdout, line)
		}
	}
	c.said = nil
	return err
}
