package folio

import (
	"io"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/native"
)

// OpenReaderAt opens the volume in the first size bytes of r for reading. For example, the bytes
// are embedded in a program, lie in an archive, or are a []byte in a bytes.Reader. The bytes must
// not change until Close, and no log belongs to them: the volume must have been closed before it
// was copied. Several goroutines call r.ReadAt at once. Close does not close r. Methods that would
// change the volume fail with ErrReadOnly. Of the options, only CacheSize counts.
//
// Errors are those of Open, with "io.ReaderAt" in place of a path, and fs.ErrInvalid for a negative
// size.
func OpenReaderAt(r io.ReaderAt, size int64, o *Options) (*Volume, error) {
	s, err := native.OpenReaderAt(r, size, nil)
	if err != nil {
		return nil, err
	}
	v, err := OpenStore(private.Key{}, s, o)
	if err != nil {
		_ = s.Close()
		return nil, pathError("open", "io.ReaderAt", err)
	}
	return v, nil
}
