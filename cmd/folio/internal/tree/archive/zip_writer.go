package archive

import (
	"archive/zip"
	"encoding/binary"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// A zipWriter writes a zip archive: modes, owners as Info-ZIP has them, times in seconds. What zip
// does not know is in a zipField. For other programs every name of a file is a file of its
// own. A stream is enough: sizes and checksums follow the contents.
type zipWriter struct {
	w     *zip.Writer
	o     *Options
	buf   []byte
	first map[tree.FileID]string // files with several names, by the name that came first
}

func newZipWriter(out io.Writer, o *Options) *zipWriter {
	w := zip.NewWriter(out)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.DefaultCompression)
	})
	return &zipWriter{w: w, o: o, buf: make([]byte, copySize), first: make(map[tree.FileID]string)}
}

// field returns the properties of an entry that zip does not know.
func (z *zipWriter) field(e *tree.Entry) *zipField {
	f := &zipField{
		Mtime: e.ModTime.UnixNano(), Atime: e.AccessTime.UnixNano(), Ctime: e.ChangeTime.UnixNano(), Xattrs: e.Xattrs,
	}
	if e.Shared && e.Mode.IsRegular() {
		first, ok := z.first[e.ID]
		if !ok {
			z.first[e.ID] = e.Name
		}
		f.Link = first
	}
	if f.Size() > maxZipExtra {
		z.o.warn(e.Name, "extended attributes of more than 64 KB")
		f.Xattrs = nil
	}
	return f
}

func (z *zipWriter) Add(e *tree.Entry) error {
	if e.Mode.Type()&^(fs.ModeDir|fs.ModeSymlink) != 0 {
		z.o.warn(e.Name, "a special file")
		return nil
	}
	h := &zip.FileHeader{Name: e.Name, Modified: e.ModTime, Extra: z.field(e).Append(zipOwner(e.UID, e.GID))}
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

// zipOwner returns Info-ZIP's Unix extra field: version 1, size of uid, uid, size of gid, gid.
func zipOwner(uid, gid uint32) []byte {
	p := binary.LittleEndian.AppendUint16(nil, zipUnixOwner)
	p = binary.LittleEndian.AppendUint16(p, 11)
	p = append(p, 1, 4)
	p = binary.LittleEndian.AppendUint32(p, uid)
	p = append(p, 4)
	return binary.LittleEndian.AppendUint32(p, gid)
}
