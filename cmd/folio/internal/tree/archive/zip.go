package archive

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/internal/posix"
)

var errNotZip = errors.New("not a zip archive")

// A zipSource is a zip archive. Its directory is in memory; contents are read and inflated by the
// workers.
type zipSource struct {
	file  *os.File
	files []zipFile // in walk order
	o     *tree.Options
}

// A zipFile is an entry with the name that it gets in a volume.
type zipFile struct {
	*zip.File
	name string
}

// openZip takes f for a zip archive, or returns errNotZip.
func openZip(f *os.File, size int64, o *tree.Options) (tree.Source, error) {
	r, err := zip.NewReader(f, size)
	if errors.Is(err, zip.ErrFormat) {
		return nil, errNotZip
	}
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, tree.OpenError(f.Name(), archiveError(err))
	}
	s := &zipSource{file: f, files: make([]zipFile, 0, len(r.File)), o: o}
	var packed uint64
	for _, zf := range r.File {
		if packed += zf.CompressedSize64; packed < zf.CompressedSize64 || packed > uint64(size) {
			return nil, tree.OpenError(f.Name(), tree.WrapEntry(zf.Name, tree.ErrOverlap))
		}
		name, err := zipName(zf)
		if err != nil {
			return nil, tree.OpenError(f.Name(), tree.WrapEntry(zf.Name, err))
		}
		s.files = append(s.files, zipFile{zf, name})
	}
	if err := checkBegin(f, s.files); err != nil {
		return nil, tree.OpenError(f.Name(), err)
	}
	slices.SortStableFunc(s.files, func(a, b zipFile) int { return tree.CompareNames(a.name, b.name) })
	s.files = onceEachDir(s.files)
	return s, nil
}

// onceEachDir leaves of several entries for one directory the last one, as unpacking would.
func onceEachDir(files []zipFile) []zipFile {
	kept := files[:0]
	for _, f := range files {
		if n := len(kept); n > 0 && kept[n-1].name == f.name && kept[n-1].Mode().IsDir() && f.Mode().IsDir() {
			kept[n-1] = f
			continue
		}
		kept = append(kept, f)
	}
	return kept
}

// A local header comes before the content of an entry. It is a signature and, in its last 4 bytes,
// the lengths of a name and an extra field that follow.
const (
	localMagic  = "PK\x03\x04"
	localHeader = 30
)

// checkBegin refuses an archive that begins with an entry that its directory does not list. Such an
// archive was cut off, and the directory is of another archive, which is the content of an entry.
func checkBegin(f *os.File, files []zipFile) error {
	var head [localHeader]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:4]) != localMagic {
		return archiveError(unlessEOF(err))
	}
	first := int64(localHeader) + int64(binary.LittleEndian.Uint16(head[26:])) + int64(binary.LittleEndian.Uint16(head[28:]))
	for _, zf := range files {
		if off, err := zf.DataOffset(); err == nil && off == first {
			return nil
		}
	}
	return tree.ErrTruncated
}

// unlessEOF passes over the end of a file that is too short to begin with an entry.
func unlessEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

func (s *zipSource) Fail(err error) error { return failure.InArchive(s.file.Name(), err) }

func (s *zipSource) Size(context.Context) (total int64, ok bool) {
	for _, f := range s.files {
		total += int64(min(f.UncompressedSize64, tree.MaxContent))
	}
	return total, total >= 0
}

func (s *zipSource) Close() error { return s.file.Close() }

func (s *zipSource) Walk(ctx context.Context, fn func(*tree.Entry) error) error {
	return tree.Run(ctx, s.o, false, func(p *tree.Pipeline) error {
		for _, f := range s.files {
			if err := f.add(p); err != nil {
				return tree.WrapEntry(f.name, err)
			}
		}
		return nil
	}, fn)
}

const zipEncrypted = 1 // a bit of Flags

// add gives the entry to the pipeline, whose workers inflate it.
func (f zipFile) add(p *tree.Pipeline) error {
	if f.Flags&zipEncrypted != 0 {
		return tree.ErrEncrypted
	}
	e := f.entry(p.Options.Umask)
	if e.Mode.Type() == fs.ModeNamedPipe && f.UncompressedSize64 > 0 {
		e.Mode = e.Mode.Perm() // Info-ZIP has read its standard input
	}
	switch e.Mode.Type() {
	case 0:
		if f.UncompressedSize64 > tree.MaxContent {
			return folio.ErrTooLarge
		}
		e.Size = int64(f.UncompressedSize64)
		return p.Add(e, f)
	case fs.ModeSymlink:
		target, err := f.target()
		if err != nil {
			return err
		}
		e.Linkname = target
	case fs.ModeNamedPipe:
	case fs.ModeDir:
		if f.UncompressedSize64 > 0 {
			return tree.ErrDamaged // it was a file
		}
	default: // a device has no number here
		return tree.ErrType
	}
	return p.Add(e, nil)
}

// entry returns the entry without the fields of one type only.
func (f zipFile) entry(umask fs.FileMode) *tree.Entry {
	e := &tree.Entry{Header: folio.Header{Name: f.name}}
	e.Mode, e.ModTime = f.mode(umask), f.Modified
	var ok bool
	if e.UID, e.GID, ok = readZipOwner(f.Extra); !ok {
		e.UID, e.GID = posix.Owner()
	}
	return e
}

// mode returns the mode of an entry. One of a system without modes, or of a program that left it
// out, gets the permissions of a new file, apart from those to write if it is read-only.
func (f zipFile) mode(umask fs.FileMode) fs.FileMode {
	mode := f.Mode()
	switch {
	case fromUnix(f.File) && f.ExternalAttrs>>16 != 0:
		return mode
	case mode.Perm() == 0 && mode.IsDir():
		mode |= 0o777
	case mode.IsDir(): // of MS-DOS, whose attribute for directories some programs leave out
		mode |= mode.Perm() & 0o444 >> 2
	case mode.Perm() == 0:
		mode |= 0o666
	}
	return mode &^ umask
}

// maxTarget is the longest target of a symbolic link that an archive may hold, in bytes.
const maxTarget = 4095

// target returns the target of a symbolic link, which is its content.
func (f zipFile) target() (string, error) {
	if f.UncompressedSize64 > maxTarget {
		return "", tree.ErrTarget
	}
	p := make([]byte, f.UncompressedSize64)
	err := f.Fill(nil, p)
	return zipText(f.File, string(p)), err
}

func (f zipFile) Fill(_ *tree.Entry, p []byte) error {
	r, err := f.Open()
	if err != nil {
		return archiveError(err)
	}
	defer r.Close()
	return archiveError(tree.ReadExactly(r, p))
}

func (f zipFile) Feed(s *tree.Stream) error {
	r, err := f.Open()
	if err != nil {
		return archiveError(err)
	}
	defer r.Close()
	return archiveError(s.CopyAll(r, int64(f.UncompressedSize64)))
}

func (f zipFile) Drop() {}
