package location

import (
	"errors"
	"fmt"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/tree/archive"
)

var errArchiveName = errors.New("is the name of an archive, and this would be a volume")

// mayEnd refuses a name for a new volume that ends as an archive or a compressed file does: the
// user wants one of these. stream is the command that writes a volume's file to standard output, or
// "" if there is none.
func mayEnd(volume, stream string) error {
	if _, ok := archive.FormatOf(volume); ok {
		return failure.Hint(failure.At(volume, errArchiveName), "folio convert makes archives")
	}
	if f, ok := archive.ForeignOf(volume); stream == "" || ok && f.Tar {
		stream = "folio convert SOURCE -"
	}
	return Written(volume, stream)
}

// Written refuses a name that ends as a kind of file does which folio does not write. stream is the
// command that writes the content of such a file to standard output.
func Written(name, stream string) error {
	f, ok := archive.ForeignOf(name)
	if !ok {
		return nil
	}
	way := "use .tar, .tar.gz, .tar.zst, .zip or .sqlar, or pack a directory that folio export makes"
	if f.Program != "" {
		way = fmt.Sprintf("use: %s | %s > FILE", stream, f.Program)
	}
	return failure.Hint(failure.At(name, fmt.Errorf("folio does not write %s", f.Ending)), way)
}
