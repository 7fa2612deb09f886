package archive

import (
	"archive/zip"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// A zipWriter writes a zip archive: modes, owners as Info-ZIP has them, times in seconds. Every
// name of a file is a file of its own. A stream is enough: sizes and checksums follow the contents.
type zipWriter struct {
	w   *zip.Writer
	o   *Options
	buf []byte
}

func newZipWriter(out io.Writer, o *Options) *zipWriter {
	w := zip.NewWriter(out)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.DefaultCompression)
	})
	return &zipWriter{w: w, o: o, buf: make([]byte, copySize)}
}

// Add implements tree.Sink. The content of a symbolic link is its target, as with Info-ZIP.
func (z *zipWriter) Add(e *tree.Entry) error {
	if e.Mode.Type()&^(fs.ModeDir|fs.ModeSymlink) != 0 {
		z.o.warn(e.Name, "a special file")
		return nil
	}
	h := &zip.FileHeader{Name: e.Name, Modified: e.ModTime, Extra: zipOwner(e.UID, e.GID)}
	h.SetMode(e.Mode)
	switch e.Mode.Type() {
	case fs.ModeDir:
		h.Name += "/"
		_, err := z.w.CreateHeader(h)
		return err
	case fs.ModeSymlink:
		w, err := z.w.CreateHeader(h)
		if err == nil {
			_, err = io.Copy(w, strings.NewReader(e.Linkname))
		}
		return err
	}
	h.Method = zip.Deflate
	w, err := z.w.CreateHeader(h)
	if err == nil {
		err = copyContent(w, e, z.buf)
	}
	return err
}

func (z *zipWriter) Finish() error { return z.w.Close() }
