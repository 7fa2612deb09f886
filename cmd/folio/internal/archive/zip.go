package archive

import (
	"archive/zip"
	"encoding/binary"
	"io"
	"io/fs"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/source"
)

// A zipWriter writes a zip archive: modes, owners as Info-ZIP has them, times in seconds. Every
// name of a file is a file of its own. A stream is enough: sizes and checksums follow the contents.
type zipWriter struct {
	w   *zip.Writer
	o   *Options
	buf []byte
}

func newZipWriter(out io.Writer, o *Options) *zipWriter {
	return &zipWriter{w: zip.NewWriter(out), o: o, buf: make([]byte, copySize)}
}

func (z *zipWriter) add(e *source.Entry) error {
	h := &zip.FileHeader{Name: e.Name, Modified: e.ModTime, Extra: zipOwner(e.UID, e.GID)}
	h.SetMode(e.Mode)
	switch e.Mode.Type() {
	case fs.ModeDir:
		if e.Name == "." {
			return nil
		}
		h.Name += "/"
		_, err := z.w.CreateHeader(h)
		return err
	case fs.ModeSymlink:
		w, err := z.w.CreateHeader(h)
		if err == nil {
			_, err = io.Copy(w, strings.NewReader(e.Linkname))
		}
		return err
	case 0:
		h.Method = zip.Deflate
		w, err := z.w.CreateHeader(h)
		if err == nil {
			err = copyContent(w, e, z.buf)
		}
		return err
	}
	z.o.warn(e.Name, "a special file")
	return nil
}

func (z *zipWriter) Close() error { return z.w.Close() }

// zipOwner returns Info-ZIP's Unix extra field: version 1, size of uid, uid, size of gid, gid.
func zipOwner(uid, gid uint32) []byte {
	p := binary.LittleEndian.AppendUint16(nil, 0x7875)
	p = binary.LittleEndian.AppendUint16(p, 11)
	p = append(p, 1, 4)
	p = binary.LittleEndian.AppendUint32(p, uid)
	p = append(p, 4)
	return binary.LittleEndian.AppendUint32(p, gid)
}
