package main

import "io"

// An output remembers the error of what it writes to, to tell it from errors of what is read.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.err = err
	}
	return n, err
}
