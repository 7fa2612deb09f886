package main

import (
	"fmt"
	"strings"
)

// say keeps a line of --verbose until the change that it is about is committed.
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

const copiedLine = "'%s' -> '%s'"

// copyTitle names an entry of a source.
func copyTitle(source, name string) string {
	switch {
	case name == ".":
		return source
	case strings.HasSuffix(source, "/"), strings.HasSuffix(source, ":"):
		return source + name
	case volumeBefore(source+":") == source:
		return source + ":" + name
	}
	return source + "/" + name
}
