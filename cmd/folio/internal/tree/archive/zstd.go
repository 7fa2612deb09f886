package archive

import (
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

const zstdMagic = "\x28\xb5\x2f\xfd"

// maxWindow is how far back a zstd stream may refer, in bytes. That much of it is in memory. The
// zstd program has the same limit, and with --long none.
const maxWindow = 128 << 20

// errWindow says that a stream needs more memory than an archive may take.
var errWindow = &tree.CompressedError{Name: "zstd with a window of more than 128 MiB", Program: "zstd -dc --long=31"}

// A zstdReader decompresses a stream. It gives the errors of its library our names, and errors of
// reading stay as they are.
type zstdReader struct {
	in *tree.Meter
	d  *zstd.Decoder
}

func newZstdReader(in io.Reader) (*zstdReader, error) {
	r := &zstdReader{in: &tree.Meter{R: in}}
	var err error
	r.d, err = zstd.NewReader(r.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
	return r, r.cause(err)
}

func (r *zstdReader) Read(p []byte) (int, error) {
	n, err := r.d.Read(p)
	return n, r.cause(err)
}

// cause returns our error for one of package zstd. An error of the source stays as it is: a disk
// that cannot be read is no damaged archive.
func (r *zstdReader) cause(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case r.in.Err != nil:
		return r.in.Err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return tree.ErrTruncated
	case errors.Is(err, zstd.ErrCRCMismatch):
		return tree.ErrChecksum
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return errWindow
	}
	return tree.ErrDamaged
}
