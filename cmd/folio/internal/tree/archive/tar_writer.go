package archive

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/internal/posix"
)

// A tarWriter writes a tar archive in PAX format: times in nanoseconds, names and targets of any
// length, extended attributes.
type tarWriter struct {
	w    *tar.Writer
	zip  io.Closer // of the compression; nil without
	o    *Options
	buf  []byte
	left map[string]bool // files that were left out, by their first names
}

func newTarWriter(out io.Writer, zip io.Closer, o *Options) *tarWriter {
	return &tarWriter{w: tar.NewWriter(out), zip: zip, o: o, buf: make([]byte, copySize), left: make(map[string]bool)}
}

func newGzipWriter(out io.Writer, o *Options) *tarWriter {
	z := gzip.NewWriter(out)
	return newTarWriter(z, z, o)
}

func newZstdWriter(out io.Writer, o *Options) (*tarWriter, error) {
	z, err := zstd.NewWriter(out)
	if err != nil {
		return nil, err
	}
	return newTarWriter(z, z, o), nil
}

var tarTypes = map[fs.FileMode]byte{
	0: tar.TypeReg, fs.ModeDir: tar.TypeDir, fs.ModeSymlink: tar.TypeSymlink, fs.ModeNamedPipe: tar.TypeFifo,
	fs.ModeDevice: tar.TypeBlock, fs.ModeDevice | fs.ModeCharDevice: tar.TypeChar,
}

func (t *tarWriter) Add(e *tree.Entry) error {
	if e.Link != "" {
		if t.left[e.Link] {
			return nil
		}
		// With the attributes of the file: programs give them to it once more.
		h := t.header(e, tar.TypeLink)
		h.Linkname = e.Link
		return t.w.WriteHeader(h)
	}
	typ, ok := tarTypes[e.Mode.Type()]
	if !ok {
		t.left[e.Name] = true
		t.o.warn(e.Name, "a socket")
		return nil
	}
	if err := t.w.WriteHeader(t.header(e, typ)); err != nil {
		return err
	}
	if !e.Mode.IsRegular() {
		return nil
	}
	return copyContent(t.w, e, t.buf)
}

// header returns the header of an entry in the form of POSIX (pax), with times to the nanosecond.
func (t *tarWriter) header(e *tree.Entry, typ byte) *tar.Header {
	mode, _ := posix.Mode(e.Mode)
	h := &tar.Header{
		Typeflag: typ, Name: e.Name, Linkname: e.Linkname, Format: tar.FormatPAX,
		Mode: int64(mode &^ posix.ModeType), Uid: int(e.UID), Gid: int(e.GID),
		ModTime: e.ModTime, AccessTime: e.AccessTime, ChangeTime: e.ChangeTime,
	}
	switch typ {
	case tar.TypeReg:
		h.Size = e.Size
	case tar.TypeDir:
		h.Name += "/"
	case tar.TypeBlock, tar.TypeChar:
		major, minor := posix.DeviceNumbers(e.Rdev)
		h.Devmajor, h.Devminor = int64(major), int64(minor)
	}
	for name, value := range e.Xattrs {
		if h.PAXRecords == nil {
			h.PAXRecords = make(map[string]string)
		}
		h.PAXRecords[paxXattr+xattrKey.Replace(name)] = string(value)
	}
	return h
}

// xattrKey writes a name as the keyword of a record, which ends before an equals sign: as GNU tar
// does.
var xattrKey = strings.NewReplacer("%", "%25", "=", "%3D")

func (t *tarWriter) Finish() error {
	err := t.w.Close()
	if t.zip != nil {
		err = errors.Join(err, t.zip.Close())
	}
	return err
}
