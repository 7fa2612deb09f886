package folio

import (
	"io"

	"github.com/foliofs/folio/store/native"
)

// OpenReaderAt opens the volume in the first size bytes of r for reading, such as one that is
// embedded in a program, lies in an archive, or is a []byte in a bytes.Reader. The bytes must not
// change until Close, and no log belongs to them: the volume must have been closed before it was
// copied. Several goroutines call r.ReadAt at once. Close does not close r. What would change the
// volume fails with ErrReadOnly. Of the options, only CacheSize counts.
//
// Errors are those of Open, with "io.ReaderAt" in place of a path, and fs.ErrInvalid for a negative
// size.
func OpenReaderAt(r io.ReaderAt, size int64, o *Options) (*FS, error) {
	s, err := native.OpenReaderAt(r, size, nil)
	if err != nil {
		return nil, err
	}
	v, err := OpenStore(s, o)
	if err != nil {
		_ = s.Close()
		return nil, pathError("open", "io.ReaderAt", err)
	}
	return v, nil
}
