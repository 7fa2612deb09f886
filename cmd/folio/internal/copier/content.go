package copier

import (
	"io"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
)

// Cat writes the content of a file to standard output.
func Cat(stdout io.Writer, loc location.Location, rx *folio.Rx) error {
	f, err := rx.Open(loc.Path)
	if err != nil {
		return loc.Failure(loc.Path, err)
	}
	defer f.Close()
	out := &terminal.Output{W: stdout}
	if _, err = f.WriteTo(out); out.Err != nil {
		return failure.OfOutput(out.Err)
	}
	return loc.Failure(loc.Path, err)
}
