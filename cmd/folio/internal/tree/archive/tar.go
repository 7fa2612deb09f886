package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/internal/posix"
)

// A tarSource is a tar archive: a file that can be read twice, or a stream.
type tarSource struct {
	title  string                    // how errors name it
	file   *os.File                  // nil for a stream
	open   func() (io.Reader, error) // of a stream
	closer io.Closer
	o      *tree.Options
}

func (s *tarSource) Fail(err error) error { return failure.InArchive(s.title, err) }

// Size is the size of the archive, which is a little more than the contents.
func (s *tarSource) Size(context.Context) (int64, bool) {
	if s.file == nil {
		return 0, false
	}
	info, err := s.file.Stat()
	if err != nil {
		return 0, false
	}
	return info.Size(), true
}

func (s *tarSource) Close() error {
	switch {
	case s.file != nil:
		return s.file.Close()
	case s.closer != nil:
		return s.closer.Close()
	}
	return nil
}

func (s *tarSource) Walk(ctx context.Context, fn func(*tree.Entry) error) error {
	err := tree.Run(ctx, s.o, s.file == nil, func(p *tree.Pipeline) error {
		t := &tarProducer{Pipeline: p}
		if s.file == nil {
			return t.stream(s.open)
		}
		return t.file(s.file)
	}, fn)
	if e, ok := errors.AsType[*tree.EntryError](err); ok && s.file == nil && e.Err == tree.ErrDuplicate {
		return &tree.EntryError{Name: e.Name, Err: tree.ErrRepeated}
	}
	return err
}

// A tarProducer reads members in their order in the archive. It counts them from 0.
type tarProducer struct {
	*tree.Pipeline
	names *tarNames // nil for a stream
}

// file reads the headers of an archive first, to know which members count, and then the members.
func (t *tarProducer) file(f *os.File) error {
	t.names = &tarNames{names: make(map[string]tarName), linked: make(map[int]string)}
	err := t.members(f, func(i int, name string, h *tar.Header, _ *tar.Reader) error {
		t.names.see(i, name, h)
		return t.Ctx.Err()
	})
	if err != nil {
		return err
	}
	t.names.inherit(t.Options.Exclude)
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return t.members(bufio.NewReaderSize(f, 256<<10), t.member)
}

// stream reads an archive once, with a name that comes twice as an error.
func (t *tarProducer) stream(open func() (io.Reader, error)) error {
	r, err := open()
	if err != nil {
		return err
	}
	if err := t.members(r, t.member); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r) // the checksum of the compression is at its end
	return archiveError(err)
}

// Types of members that GNU tar alone makes.
const (
	typeLabel   = 'V' // the name of the archive
	typeDumpDir = 'D' // a directory in an incremental dump, with the names of its files as content
)

// members calls fn for each member of the archive.
func (t *tarProducer) members(r io.Reader, fn func(i int, name string, h *tar.Header, r *tar.Reader) error) error {
	end := &endReader{r: r}
	tr := tar.NewReader(end.reader())
	for i, before := 0, "."; ; i++ {
		end.zeros = 0
		h, err := tr.Next()
		if errors.Is(err, tar.ErrHeader) && i > 0 && end.loneZeros() {
			tr = tar.NewReader(end.again())
			h, err = tr.Next()
		}
		if err == io.EOF && i == 0 {
			return end.blank()
		}
		if err == io.EOF && end.marked() {
			return nil
		}
		if err == io.EOF {
			err = tree.ErrTruncated
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return tree.WrapEntry("after "+before, archiveError(err))
		}
		before = h.Name
		switch h.Typeflag {
		case tar.TypeXGlobalHeader, typeLabel:
			continue
		case typeDumpDir:
			h.Typeflag = tar.TypeDir
		}
		name, err := tree.CleanName(h.Name)
		if err == nil {
			err = fn(i, name, h, tr)
		}
		if err != nil {
			return tree.WrapEntry(h.Name, archiveError(err))
		}
	}
}

func (t *tarProducer) member(i int, name string, h *tar.Header, r *tar.Reader) error {
	if t.names != nil {
		as, link, ok := t.names.of(i, name, h)
		if !ok {
			return nil
		}
		name, h.Linkname = as, cmp.Or(link, h.Linkname)
	}
	e, err := t.entry(name, h)
	if err != nil {
		return err
	}
	if !e.Mode.IsRegular() || e.Link != "" {
		return t.Add(e, nil)
	}
	return t.AddRead(e, r, tarError) // only this goroutine can read it
}

// tarError is archiveError for a content. Package tar ends one early only where the archive ends.
func tarError(err error) error {
	if err == tree.ErrChanged {
		return tree.ErrTruncated
	}
	return archiveError(err)
}

// entry takes a header over. It refuses values that a volume cannot hold, and never cuts them off.
func (t *tarProducer) entry(name string, h *tar.Header) (*tree.Entry, error) {
	e := &tree.Entry{Header: folio.Header{Name: name}}
	e.ModTime, e.AccessTime, e.ChangeTime = h.ModTime, h.AccessTime, h.ChangeTime
	e.UID, e.GID = uint32(h.Uid), uint32(h.Gid)
	if int64(e.UID) != int64(h.Uid) || int64(e.GID) != int64(h.Gid) {
		return nil, tree.ErrOwner
	}
	if h.Size < 0 || h.Size > tree.MaxContent {
		return nil, folio.ErrTooLarge
	}
	e.Xattrs = paxXattrs(h)
	return e, t.typed(e, h)
}

// typed adds the mode, and the fields that belong to the type.
func (t *tarProducer) typed(e *tree.Entry, h *tar.Header) (err error) {
	mode := uint32(h.Mode & 0o7777)
	switch h.Typeflag {
	case tar.TypeReg, '\x00', tar.TypeCont, tar.TypeGNUSparse:
		mode |= posix.ModeRegular
		e.Size = h.Size
	case tar.TypeLink:
		mode |= posix.ModeRegular
		e.Link, err = tree.CleanName(h.Linkname)
	case tar.TypeDir:
		mode |= posix.ModeDir
	case tar.TypeFifo:
		mode |= posix.ModeFifo
	case tar.TypeSymlink:
		mode |= posix.ModeSymlink
		e.Linkname = h.Linkname
	case tar.TypeChar:
		mode |= posix.ModeChar
		e.Rdev, err = tarDev(h)
	case tar.TypeBlock:
		mode |= posix.ModeBlock
		e.Rdev, err = tarDev(h)
	default:
		err = tree.ErrType
	}
	e.Mode = posix.FileMode(mode)
	return err
}

func tarDev(h *tar.Header) (uint64, error) {
	major, minor := uint32(h.Devmajor), uint32(h.Devminor)
	if int64(major) != h.Devmajor || int64(minor) != h.Devminor {
		return 0, tree.ErrType
	}
	return posix.Device(major, minor), nil
}

const paxXattr = "SCHILY.xattr."

// xattrName reads the name of an extended attribute in a keyword, where GNU tar escapes what it
// must.
var xattrName = strings.NewReplacer("%25", "%", "%3D", "=")

// paxXattrs returns the extended attributes in the form of star, which GNU tar and bsdtar write,
// too.
func paxXattrs(h *tar.Header) (attrs map[string][]byte) {
	for key, value := range h.PAXRecords {
		name, ok := strings.CutPrefix(key, paxXattr)
		if name = xattrName.Replace(name); ok && tree.KeepsXattr(name) {
			if attrs == nil {
				attrs = make(map[string][]byte)
			}
			attrs[name] = []byte(value)
		}
	}
	return attrs
}

// An endReader tells an archive's end, blocks of zeros, from an archive that was cut off between
// two members, where package tar sees no difference.
type endReader struct {
	r     io.Reader
	zeros int64  // bytes read last that are zero
	all   int64  // bytes read
	last  []byte // at most the last two blocks
}

// Read counts the zeros at the end of what was read so far.
func (e *endReader) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.all += int64(n)
	e.keep(p[:n])
	tail := int64(n - len(bytes.TrimRight(p[:n], "\x00")))
	if tail == int64(n) {
		tail += e.zeros
	}
	e.zeros = tail
	return n, err
}

// keep keeps the last two blocks.
func (e *endReader) keep(p []byte) {
	const most = 2 * magicSize
	if len(p) >= most {
		e.last = append(e.last[:0], p[len(p)-most:]...)
		return
	}
	if over := len(e.last) + len(p) - most; over > 0 {
		e.last = e.last[:copy(e.last, e.last[over:])]
	}
	e.last = append(e.last, p...)
}

// loneZeros reports whether the last two blocks are one of zeros, which does not end an archive by
// itself, and one of something else: the header of a further member, if the archive is sound.
func (e *endReader) loneZeros() bool {
	return len(e.last) == 2*magicSize && isBlank(e.last[:magicSize]) && !isBlank(e.last[magicSize:])
}

// again is the rest of the archive, and before it the last block.
func (e *endReader) again() io.Reader {
	block := bytes.NewReader(bytes.Clone(e.last[magicSize:]))
	return io.MultiReader(block, e)
}

func (e *endReader) marked() bool { return e.zeros >= magicSize }

// blank reads an archive without members to its end, which is near, or returns its error.
func (e *endReader) blank() error {
	_, err := io.Copy(io.Discard, io.LimitReader(e, maxEmptyTar+1-e.all))
	switch {
	case err != nil:
		return archiveError(err)
	case e.all == 0, e.zeros == e.all && e.all < minEmptyTar:
		return tree.ErrTruncated
	case e.zeros < e.all || !isEmptyTar(e.all):
		return tree.ErrBlank
	}
	return nil
}

// reader is the endReader, with a Seek if there is one beneath: package tar skips contents with it.
func (e *endReader) reader() io.Reader {
	if seeker, ok := e.r.(io.Seeker); ok {
		return struct {
			io.Reader
			io.Seeker
		}{e, seeker}
	}
	return e
}
