package serve

import (
	"bytes"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/foliofs/folio"
)

// content sends the content of a file.
func (g *get) content() error {
	if !g.info.Mode().IsRegular() {
		return folio.ErrNotRegular
	}
	h := g.w.Header()
	name := path.Base(g.p.name)
	contentType := typeOf(name, g.data)
	if err := g.protectContent(contentType); err != nil {
		return err
	}
	h.Set("Content-Type", contentType)
	h.Set("ETag", g.p.etag(g.info))
	h.Set("Cache-Control", g.cacheControl())
	if g.r.URL.Query().Has("download") {
		h.Set("Content-Disposition", attachment(name))
	}
	if err := checkRanges(g.r.Header.Get("Range")); err != nil {
		h.Set("Content-Range", "bytes */"+itoa(g.info.Size()))
		return err
	}
	if g.all {
		data := g.negotiate(contentType)
		http.ServeContent(g.w, g.r, name, g.info.ModTime(), bytes.NewReader(data))
		g.offer(data)
		return nil
	}
	if none := g.r.Header.Get("If-None-Match"); plainTag(none) == g.p.etag(g.info) {
		h.Set("ETag", none) // of the variant that the client has
	}
	if g.fresh(g.info) {
		http.ServeContent(g.w, g.r, name, g.info.ModTime(), io.NewSectionReader(unread{}, 0, g.info.Size()))
		g.offer(nil)
		return nil
	}
	return g.largeContent(name)
}

// largeContent sends a file while it reads it.
func (g *get) largeContent(name string) error {
	opened, done, err := g.p.open(g.r.Context(), g.real, g.info)
	if err != nil {
		return err
	}
	defer done()
	http.ServeContent(g.w, g.r, name, g.info.ModTime(), &steady{opened, g.info})
	g.offer(nil)
	return nil
}

// unread is the content of a file for an answer that has none.
type unread struct{}

func (unread) ReadAt([]byte, int64) (int, error) { return 0, errChanged }

// A steady file is read as long as it does not change. A client that has got a part of it must not
// take other bytes for the rest.
type steady struct {
	*folio.File
	info fs.FileInfo
}

func (s *steady) Read(p []byte) (int, error) {
	n, err := s.File.Read(p)
	if !sameFile(s.File, s.info) {
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// WriteTo hides the file's WriteTo: package http asks for parts.
func (s *steady) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{s})
}

// maxRanges is how many ranges of a file one request asks for.
const maxRanges = 16

var errRanges = refuse(http.StatusRequestedRangeNotSatisfiable, "The request asks for too many parts of a file.")

var errNoRange = refuse(http.StatusRequestedRangeNotSatisfiable, "The request asks for none of the bytes of a file.")

func checkRanges(header string) error {
	if strings.Count(header, ",") >= maxRanges {
		return errRanges
	}
	if strings.TrimSpace(strings.TrimPrefix(header, "bytes=")) == "-0" {
		return errNoRange // package http would send nothing as a part
	}
	return nil
}

// attachment is a Content-Disposition with any name (RFC 6266).
func attachment(name string) string {
	if text := mime.FormatMediaType("attachment", map[string]string{"filename": strings.ToValidUTF8(name, "\uFFFD")}); text != "" {
		return text
	}
	return "attachment"
}
