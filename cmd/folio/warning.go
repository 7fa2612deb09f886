package main

import (
	"fmt"
	"io/fs"
)

func (c *command) warnLeftOut(name, what string) {
	fmt.Fprintf(c.stderr, "folio: warning: %s: %s, left out\n", escape(name), what)
}

func (c *command) warnUnreadable(name string, err error) {
	fmt.Fprintf(c.stderr, "folio: warning: %s\n", message(&hintError{&fs.PathError{Path: name, Err: err}, "left out"}))
}
