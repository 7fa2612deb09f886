package serve

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/foliofs/folio"
)

// Limits of archives.
const (
	archivesAtOnce = 8
	maxZip         = 100_000 // files; a zip keeps its directory in memory
)

// An archiver writes one form of archive.
type archiver interface {
	add(f *walked, link string, content io.Reader) error
	Close() error
}

var (
	errArchive  = refuse(http.StatusNotFound, "An archive is a .zip, a .tar or a .tar.gz.")
	errArchives = &failure{status: http.StatusServiceUnavailable, message: "Too many archives are made at once. Try again.", header: http.Header{"Retry-After": {"10"}}}
	errZip      = refuse(http.StatusInsufficientStorage, "The directory has too many files for a zip. Take a tar.")
	errNoDir    = refuse(http.StatusNotFound, "There is no such directory.")
)

// archiveTypes lists the types of archives, the longest ending first.
var archiveTypes = []struct{ ending, contentType string }{
	{".tar.gz", "application/gzip"}, {".tar", "application/x-tar"}, {".zip", "application/zip"},
}

// answerArchive sends a directory, or some entries of it, as one file, as they are at one moment.
// POST is for more names than a URL takes.
func answerArchive(c *call, target string) error {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead && c.r.Method != http.MethodPost {
		return errMethod
	}
	for _, t := range archiveTypes {
		if dir, ok := strings.CutSuffix(target, t.ending); ok {
			return archiveOf(c, "/"+strings.TrimPrefix(dir, "/"), t.ending, t.contentType)
		}
	}
	return errArchive
}

// archiveOf sends the directory that target, a path of a URL, leads to. It looks for errors before
// the first byte: after that the status cannot change any more.
func archiveOf(c *call, target, ending, contentType string) error {
	names, err := selectedNames(c)
	if err != nil {
		return err
	}
	if c.r.Method == http.MethodPost && len(names) == 0 && !c.selectsAll() {
		return errNothing
	}
	p, err := c.find(target)
	if err != nil {
		return err
	}
	defer p.release()
	if p.tree == nil {
		return errNoDir
	}
	if c.selectsAll() {
		if names, err = c.allNames(p); err != nil {
			return err
		}
	}
	from := c.s.countedBy(c.client)
	if !c.s.archives.enter(from) {
		return errArchives
	}
	defer c.s.archives.leave(from)
	return p.view(c.r.Context(), func(rx *folio.Rx) error {
		real, err := p.resolve(rx, p.name, true, rightRead)
		if err != nil {
			return err
		}
		if info, err := rx.Lstat(real); err != nil || !info.IsDir() {
			return errNoDir
		}
		return (&archiving{c, p, rx, real, names}).send(ending, contentType)
	})
}

// An archiving is an archive on its way to a client.
type archiving struct {
	*call
	p     *place
	rx    *folio.Rx
	real  string   // the directory
	names []string // of the entries that are wanted; none means all
}

func (g *archiving) walk(visit func(f *walked) error) error {
	if len(g.names) > 0 {
		return g.p.walkNamed(g.r.Context(), g.rx, g.names, visit)
	}
	return g.p.walk(g.r.Context(), g.rx, g.real, visit)
}

// send writes the headers and the archive. An error in the middle can only cut the archive off,
// which the client notices by the missing end.
func (g *archiving) send(ending, contentType string) error {
	if err := g.count(ending); err != nil {
		return err
	}
	h := g.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", attachment(g.p.base()+ending))
	if g.r.Method == http.MethodHead {
		g.w.WriteHeader(http.StatusOK)
		return nil
	}
	a := newArchiver(g.w, ending)
	if err := g.walk(func(f *walked) error { return addWalked(g.p, g.rx, g.real, a, f) }); err != nil {
		return err
	}
	return a.Close()
}

// count goes through the files before the answer begins: entries that are wanted are there, and a
// zip does not get too many.
func (g *archiving) count(ending string) error {
	if ending != ".zip" && len(g.names) == 0 {
		return nil
	}
	n := 0
	return g.walk(func(*walked) error {
		if n++; n > maxZip && ending == ".zip" {
			return errZip
		}
		return nil
	})
}

// addWalked adds a file of a walk. Links that lead out of the archive, devices, fifos and sockets
// are left out, so that a program that unpacks the archive makes none.
func addWalked(p *place, rx *folio.Rx, root string, a archiver, f *walked) error {
	switch mode := f.info.Mode(); {
	case mode.IsDir():
		return a.add(f, "", nil)
	case mode&fs.ModeSymlink != 0:
		to, err := p.resolve(rx, p.below(f.real), true, rightRead)
		if err != nil || root != "." && !covers(root, to) {
			return nil
		}
		link, err := rx.Readlink(f.real)
		if err != nil {
			return err
		}
		return a.add(f, link, nil)
	case mode.IsRegular():
		content, err := rx.Open(f.real)
		if err != nil {
			return err
		}
		defer content.Close()
		return a.add(f, "", content)
	}
	return nil
}

func newArchiver(w io.Writer, ending string) archiver {
	switch ending {
	case ".zip":
		z := zip.NewWriter(w)
		z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
		return &zipArchiver{z}
	case ".tar.gz":
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // there is no error: gzip has this level
		return &tarArchiver{tar.NewWriter(z), z}
	}
	return &tarArchiver{tar.NewWriter(w), nil}
}

// A tarArchiver writes in the form of POSIX (pax), which has no limit on names and sizes.
type tarArchiver struct {
	*tar.Writer
	zipped io.Closer // nil for a plain tar
}

func (t *tarArchiver) add(f *walked, link string, content io.Reader) error {
	name := portableName(f.name)
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Linkname: portableName(link), Mode: int64(f.info.Mode().Perm()), ModTime: f.info.ModTime(), Format: tar.FormatPAX}
	switch {
	case f.info.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, name+"/"
	case content == nil:
		h.Typeflag = tar.TypeSymlink
	default:
		h.Size = f.info.Size()
	}
	if err := t.WriteHeader(h); err != nil || content == nil {
		return err
	}
	_, err := io.Copy(t.Writer, content)
	return err
}

func (t *tarArchiver) Close() error {
	err := t.Writer.Close()
	if err == nil && t.zipped != nil {
		err = t.zipped.Close()
	}
	return err
}

// A zipArchiver deflates contents, but not those that are packed already.
type zipArchiver struct{ *zip.Writer }

// packed are the endings of files that deflating does not make smaller.
var packed = map[string]bool{".zip": true, ".gz": true, ".zst": true, ".xz": true, ".7z": true, ".jpg": true, ".jpeg": true, ".png": true, ".webp": true, ".avif": true, ".mp3": true, ".mp4": true, ".webm": true, ".ogg": true, ".m4a": true, ".mkv": true, ".mov": true}

func (z *zipArchiver) add(f *walked, link string, content io.Reader) error {
	h := &zip.FileHeader{Name: portableName(f.name), Modified: f.info.ModTime(), Method: zip.Deflate}
	h.SetMode(f.info.Mode() & (fs.ModeType | fs.ModePerm))
	switch {
	case f.info.IsDir():
		h.Name, h.Method = h.Name+"/", zip.Store
	case content == nil:
		content, h.Method = strings.NewReader(portableName(link)), zip.Store
	case packed[strings.ToLower(path.Ext(f.name))] || f.info.Size() < 64:
		h.Method = zip.Store
	}
	w, err := z.CreateHeader(h)
	if err != nil || content == nil {
		return err
	}
	_, err = io.Copy(w, content)
	return err
}

// portableName returns a path with percent codes, such as %5C, for characters that mislead programs
// that unpack an archive: backslashes, which some take for slashes, the colon of a drive, and
// control characters. A percent sign gets a code if it would begin one. So two names never
// become one.
func portableName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c == '\\', isControl(c), c == ':' && endsDrive(name[:i]), c == '%' && beginsCode(name[i:]):
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isControl(c byte) bool { return c < ' ' || c == 0x7f }

// endsDrive reports whether the last element of a path is one letter.
func endsDrive(path string) bool {
	last := path[strings.LastIndexByte(path, '/')+1:]
	return len(last) == 1 && 'a' <= last[0]|0x20 && last[0]|0x20 <= 'z'
}

// beginsCode reports whether a path that begins with a percent sign begins with a code that
// portableName writes.
func beginsCode(path string) bool {
	if len(path) < 3 || strings.ToUpper(path[1:3]) != path[1:3] {
		return false
	}
	n, err := strconv.ParseUint(path[1:3], 16, 8)
	c := byte(n)
	return err == nil && (c == '\\' || c == ':' || c == '%' || isControl(c))
}
