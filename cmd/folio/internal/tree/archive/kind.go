package archive

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
)

// magicSize is how many bytes of a file show its kind: the size of a tar header.
const magicSize = 512

const (
	sqliteMagic = "SQLite format 3\x00"
	sqliteAppID = 68         // offset of the application_id, 4 bytes
	volumeAppID = 0x466F6C69 // "Foli", as docs/reference/format.md has it
)

// HeadSize is how many bytes of a file IsVolume looks at.
const HeadSize = sqliteAppID + 4

// IsVolume reports whether a file that begins with head looks like a volume.
func IsVolume(head []byte) bool {
	return len(head) >= HeadSize && bytes.HasPrefix(head, []byte(sqliteMagic)) &&
		binary.BigEndian.Uint32(head[sqliteAppID:]) == volumeAppID
}

// Compressions that Go cannot undo, by magic, with the program that can.
var foreignMagics = []struct{ magic, name, program string }{
	{"\xfd7zXZ\x00", "xz", "xz -dc"},
	{"\x04\x22\x4d\x18", "lz4", "lz4 -dc"},
	{"\x02\x21\x4c\x18", "lz4", "lz4 -dc"}, // before it had frames
	{"7z\xbc\xaf\x27\x1c", "7z", "7z x -so"},
	{"\x1f\x9d", "compress", "gzip -dc"},
	{"LZIP", "lzip", "lzip -dc"},
	{"\x5d\x00\x00", "lzma", "xz -dc"},
}

// openFile opens an archive that is a regular file. On success the source owns f.
func openFile(f *os.File, info fs.FileInfo, o *tree.Options) (tree.Source, error) {
	head := make([]byte, magicSize)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	head = head[:n]
	switch {
	case n == 0:
		return nil, tree.OpenError(f.Name(), tree.ErrEmpty)
	case bytes.HasPrefix(head, []byte(sqliteMagic)):
		return openSQLite(f, head, o)
	case bytes.HasPrefix(head, []byte("\x1f\x8b")), bytes.HasPrefix(head, []byte("BZh")),
		bytes.HasPrefix(head, []byte(zstdMagic)):
		return openStream(f.Name(), f, f, o), nil
	case isTar(head) && (!isBlank(head) || isEmptyTar(info.Size())):
		return &tarSource{title: f.Name(), file: f, o: o}, nil
	}
	if src, err := openZip(f, info.Size(), o); !errors.Is(err, errNotZip) {
		return src, err
	}
	return nil, tree.OpenError(f.Name(), kindError(head))
}

func openSQLite(f *os.File, head []byte, o *tree.Options) (tree.Source, error) {
	if IsVolume(head) {
		return nil, tree.OpenError(f.Name(), tree.ErrVolume)
	}
	return openSqlar(f, o)
}

// openStream opens a tar archive that can be read only once. It may be compressed. Nothing is read
// before Walk, because a reader may have to wait. The source owns closer, which may be nil.
func openStream(name string, r io.Reader, closer io.Closer, o *tree.Options) tree.Source {
	in := bufio.NewReaderSize(r, 64<<10)
	return &tarSource{title: name, closer: closer, o: o, open: func() (io.Reader, error) {
		tr, err := unpack(in)
		if err != nil {
			return nil, tree.OpenError(name, err)
		}
		return tr, nil
	}}
}

// unpack returns the tar archive that a stream is or has compressed.
func unpack(in *bufio.Reader) (io.Reader, error) {
	head, err := in.Peek(magicSize)
	switch {
	case len(head) == 0 && err == io.EOF:
		return nil, tree.ErrEmpty
	case len(head) == 0:
		return nil, err
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		r, err := gzip.NewReader(in)
		return r, archiveError(err)
	case bytes.HasPrefix(head, []byte("BZh")):
		return bzip2.NewReader(in), nil
	case bytes.HasPrefix(head, []byte(zstdMagic)):
		return newZstdReader(in)
	case isTar(head):
		return in, nil
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte(sqliteMagic)):
		return nil, tree.ErrSeek
	}
	return nil, kindError(head)
}

// isTar reports whether a file begins with the header of a tar entry, or with the end of an empty
// archive.
func isTar(head []byte) bool {
	if len(head) < magicSize {
		return false
	}
	if isBlank(head) {
		return true
	}
	_, err := tar.NewReader(bytes.NewReader(head)).Next()
	return !errors.Is(err, tar.ErrHeader)
}

func isBlank(p []byte) bool { return bytes.Count(p, []byte{0}) == len(p) }

// The size of a tar archive without members: two blocks of zeros, which GNU tar fills up to a
// record of 20.
const (
	minEmptyTar = 2 * magicSize
	maxEmptyTar = 20 * magicSize
)

// isEmptyTar reports whether that many zeros are an archive without members. More of them are a
// blank disk, a damaged file or the beginning of a disk image.
func isEmptyTar(size int64) bool {
	return size >= minEmptyTar && size <= maxEmptyTar && size%magicSize == 0
}

// kindError returns the error for a file that is no archive.
func kindError(head []byte) error {
	if len(head) > 0 && isBlank(head) {
		return tree.ErrBlank
	}
	if len(head) > 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18" { // a frame to pass over
		return &tree.CompressedError{Name: "zstd or lz4", Program: "zstd -dc"}
	}
	for _, k := range foreignMagics {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return &tree.CompressedError{Name: k.name, Program: k.program}
		}
	}
	return tree.ErrKind
}

// Open opens the source at path; "-" is a tar archive on stdin.
func Open(path string, stdin io.Reader, o *tree.Options) (tree.Source, error) {
	o = o.OrDefault()
	if path == "-" {
		return openStream(failure.StandardInput, stdin, nil, o), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return disk.OpenDir(path, o)
	}
	if !info.Mode().IsRegular() {
		return openPipe(path, o), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	src, err := openFile(f, info, o)
	if err != nil {
		f.Close()
	}
	return src, err
}

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

// openPipe returns a source with a name that can be read only once: a named pipe or a device.
// Walk opens it, and ends when its context does. Opening a named pipe lasts until a process opens
// it for writing, and nothing else can interrupt that.
func openPipe(path string, o *tree.Options) tree.Source {
	p := &pipe{path: path}
	return openStream(path, p, p, o)
}

// A pipe is opened by its first Read. One goroutine reads; any may close it. A pipe that is opened
// after Close stays open until the process ends.
type pipe struct {
	path string
	file atomic.Pointer[os.File] // nil until it is open
}

func (p *pipe) Read(b []byte) (int, error) {
	f := p.file.Load()
	if f == nil {
		var err error
		if f, err = os.Open(p.path); err != nil {
			return 0, err
		}
		p.file.Store(f)
	}
	return f.Read(b)
}

func (p *pipe) Close() error {
	if f := p.file.Load(); f != nil {
		return f.Close()
	}
	return nil
}
