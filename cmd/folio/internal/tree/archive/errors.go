package archive

import (
	"archive/tar"
	"archive/zip"
	"compress/bzip2"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"slices"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// archiveError gives the errors of the packages that read archives our names.
func archiveError(err error) error {
	if err == nil {
		return nil
	}
	for ours, theirs := range archiveErrors {
		if slices.ContainsFunc(theirs, func(target error) bool { return errors.Is(err, target) }) {
			return ours
		}
	}
	_, isFlate := errors.AsType[flate.CorruptInputError](err)
	_, isBzip2 := errors.AsType[bzip2.StructuralError](err)
	if isFlate || isBzip2 {
		return tree.ErrUnpack
	}
	return err
}

var archiveErrors = map[error][]error{
	tree.ErrTruncated: {io.ErrUnexpectedEOF, io.EOF}, // a reader that takes an io.EOF for an end has looked for it before
	tree.ErrChecksum:  {gzip.ErrChecksum, zip.ErrChecksum, zlib.ErrChecksum},
	tree.ErrUnpack:    {gzip.ErrHeader, zip.ErrFormat, zlib.ErrHeader, tar.ErrHeader, tree.ErrChanged}, // a size that is untrue
	tree.ErrMethod:    {zip.ErrAlgorithm},
}
