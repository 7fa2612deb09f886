package main

import (
	"io"

	"github.com/foliofs/folio"
)

// cat writes the content of a file to standard output.
func cat(stdout io.Writer, loc location, rx *folio.Rx) error {
	f, err := rx.Open(loc.path)
	if err != nil {
		return loc.failure(loc.path, err)
	}
	defer f.Close()
	out := &output{w: stdout}
	if _, err = f.WriteTo(out); out.err != nil {
		return outputFailure(out.err)
	}
	return loc.failure(loc.path, err)
}
