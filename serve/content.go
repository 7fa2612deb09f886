package serve

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/web"
	"github.com/foliofs/folio/serve/page"
)

// smallFile is how many bytes a file has at most that is read as a whole, in the view that finds
// it.
const smallFile = 64 << 10

// A found file is what a GET request is about, as one view has it.
type found struct {
	real string // the path in the volume
	info fs.FileInfo
	data []byte // of a small file
	list []page.Entry
	all  bool // data holds the whole file
}

// get answers GET and HEAD.
func (c *call) get(p *place) error {
	if p.tree == nil {
		return c.listVolumes()
	}
	f, err := c.lookAt(p)
	if err != nil {
		return err
	}
	query := c.r.URL.Query()
	switch {
	case query.Has("versions"):
		return c.versions(p, f)
	case query.Has("diff"):
		return c.difference(p, f)
	case f.info.IsDir() && !p.dir:
		c.redirectDir(p)
		return nil
	case !f.info.IsDir() && p.dir:
		return fs.ErrNotExist
	case f.info.IsDir():
		return c.listing(p, f)
	case query.Has("view"):
		return c.viewFile(p, f)
	}
	return c.content(p, f)
}

// redirectDir sends a client to the URL of a directory, which ends in a slash.
func (c *call) redirectDir(p *place) {
	to := p.href(p.name, true)
	if c.r.URL.RawQuery != "" {
		to += "?" + c.r.URL.RawQuery
	}
	c.w.Header().Set("Location", to)
	c.w.Header().Set("Cache-Control", c.cacheControl())
	c.w.WriteHeader(http.StatusMovedPermanently)
}

// lookAt reads what a GET request is about.
func (c *call) lookAt(p *place) (f *found, err error) {
	f = new(found)
	err = p.view(c.r.Context(), func(rx *folio.Rx) (err error) {
		if f.real, err = p.resolve(rx, p.name, true, rightRead); err != nil {
			return c.uploadOnly(p, rx, f, err)
		}
		if f.info, err = rx.Lstat(f.real); err != nil {
			return err
		}
		return c.readFound(p, rx, f)
	})
	return f, err
}

// uploadOnly lets those who may only upload into a directory see its page, without the entries.
func (c *call) uploadOnly(p *place, rx *folio.Rx, f *found, denied error) (err error) {
	if !errors.Is(denied, errDenied) {
		return denied
	}
	if f.real, err = p.resolve(rx, p.name, true, rightUpload); err != nil {
		return denied
	}
	if f.info, err = rx.Lstat(f.real); err != nil || !f.info.IsDir() {
		return denied
	}
	return nil
}

// readFound reads a small file, or a directory.
func (c *call) readFound(p *place, rx *folio.Rx, f *found) (err error) {
	switch {
	case f.info.IsDir():
		if c.s.options.Index && p.dir && c.index(p, rx, f) {
			return nil
		}
		f.list, err = p.entries(rx, f.real)
	case f.info.Mode().IsRegular() && f.info.Size() <= smallFile && !c.fresh(p, f.info):
		f.all = true
		key := p.key(f.info)
		if data, ok := c.s.contents.get(key); ok {
			f.data = data
			return nil
		}
		if f.data, err = rx.ReadFile(f.real); err == nil {
			c.s.contents.put(key, f.data)
		}
	}
	return err
}

func (p *place) key(info fs.FileInfo) contentKey {
	n := node(info)
	return contentKey{vol: p.vol.Volume, ino: n.Ino, mtime: n.Mtime, ctime: n.Ctime, size: n.Size, snapshot: p.snapshot}
}

// index puts index.html in the place of a directory that has one.
func (c *call) index(p *place, rx *folio.Rx, f *found) bool {
	real, err := p.resolve(rx, path.Join(p.name, "index.html"), true, rightRead)
	if err != nil {
		return false
	}
	info, err := rx.Lstat(real)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f.real, f.info, p.name, p.dir = real, info, path.Join(p.name, "index.html"), false
	return true
}

// fresh reports whether the client has the content already, so that it need not be read.
func (c *call) fresh(p *place, info fs.FileInfo) bool {
	return c.r.Method == http.MethodHead || plainTag(c.r.Header.Get("If-None-Match")) == p.etag(info)
}

// etag returns the ETag of a file. It is strong: another content has another one.
func (p *place) etag(info fs.FileInfo) string { return web.ETag(info) }

// content sends the content of a file.
func (c *call) content(p *place, f *found) error {
	if !f.info.Mode().IsRegular() {
		return folio.ErrNotRegular
	}
	h := c.w.Header()
	name := path.Base(p.name)
	contentType := typeOf(name, f.data)
	if err := c.protectContent(contentType); err != nil {
		return err
	}
	h.Set("Content-Type", contentType)
	h.Set("ETag", p.etag(f.info))
	h.Set("Cache-Control", c.cacheControl())
	if c.r.URL.Query().Has("download") {
		h.Set("Content-Disposition", attachment(name))
	}
	if err := checkRanges(c.r.Header.Get("Range")); err != nil {
		h.Set("Content-Range", "bytes */"+itoa(f.info.Size()))
		return err
	}
	if f.all {
		data := c.negotiate(p, f, contentType)
		http.ServeContent(c.w, c.r, name, f.info.ModTime(), bytes.NewReader(data))
		return nil
	}
	if none := c.r.Header.Get("If-None-Match"); plainTag(none) == p.etag(f.info) {
		h.Set("ETag", none) // of the variant that the client has
	}
	return c.largeContent(p, f, name)
}

// negotiate returns the content as it is, or compressed if the client takes that and it pays.
func (c *call) negotiate(p *place, f *found, contentType string) []byte {
	if len(f.data) < minCompress || !compressible(contentType) {
		return f.data
	}
	h := c.w.Header()
	h.Add("Vary", "Accept-Encoding")
	if c.r.Header.Get("Range") != "" || !acceptsGzip(c.r.Header.Get("Accept-Encoding")) {
		return f.data
	}
	z := c.s.contents.compressed(p.key(f.info), f.data)
	if z == nil {
		return f.data
	}
	h.Set("Content-Encoding", "gzip")
	h.Set("ETag", strings.TrimSuffix(p.etag(f.info), `"`)+`-gzip"`)
	return z
}

// compressible reports whether contents of a type are texts.
func compressible(contentType string) bool {
	return strings.HasPrefix(contentType, "text/") || strings.HasPrefix(contentType, "image/svg") || contentType == "application/json" || strings.HasSuffix(contentType, "+xml")
}

// acceptsGzip reports whether an Accept-Encoding header has gzip, and not with a weight of 0.
func acceptsGzip(header string) bool {
	for one := range strings.SplitSeq(header, ",") {
		name, weight, _ := strings.Cut(one, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q := strings.TrimPrefix(strings.TrimSpace(weight), "q=")
			return strings.Trim(q, "0.") != "" || q == ""
		}
	}
	return false
}

// largeContent sends a file while it reads it.
func (c *call) largeContent(p *place, f *found, name string) error {
	opened, done, err := p.open(f.real, f.info)
	if err != nil {
		return err
	}
	defer done()
	http.ServeContent(c.w, c.r, name, f.info.ModTime(), &steady{opened, f.info})
	return nil
}

// A steady file is read as long as it does not change. A client that has got a part of it must not
// take what follows for the rest.
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

// WriteTo hides that of the file: package http asks for parts.
func (s *steady) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{s})
}

// maxRanges is how many ranges of a file one request asks for.
const maxRanges = 16

var errRanges = refuse(http.StatusRequestedRangeNotSatisfiable, "The request asks for too many parts of a file.")

func checkRanges(header string) error {
	if strings.Count(header, ",") >= maxRanges {
		return errRanges
	}
	return nil
}

// contentTypes has the types of names that systems disagree about, or that must be harmless.
var contentTypes = map[string]string{
	".js": textType, ".mjs": textType, ".cjs": textType, ".md": textType, ".txt": textType, ".go": textType, ".log": textType, ".wasm": "application/octet-stream",
	".html": "text/html; charset=utf-8", ".htm": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".json": "application/json",
	".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".avif": "image/avif", ".ico": "image/x-icon",
	".pdf": "application/pdf", ".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".oga": "audio/ogg", ".opus": "audio/ogg", ".wav": "audio/wav", ".flac": "audio/flac", ".m4a": "audio/mp4",
	".mp4": "video/mp4", ".m4v": "video/mp4", ".webm": "video/webm", ".ogv": "video/ogg", ".mov": "video/quicktime", ".mkv": "video/x-matroska", ".vtt": "text/vtt; charset=utf-8",
	".zip": "application/zip", ".tar": "application/x-tar", ".gz": "application/gzip", ".xml": "text/xml; charset=utf-8",
	".appcache": textType, ".webmanifest": textType,
}

const textType = "text/plain; charset=utf-8"

// typeOf returns the type of a file by its name, or by its first bytes.
func typeOf(name string, data []byte) string {
	ext := strings.ToLower(path.Ext(name))
	if t, ok := contentTypes[ext]; ok {
		return t
	}
	t := mime.TypeByExtension(ext)
	if strings.Contains(t, "script") {
		return textType
	}
	if t == "" && data != nil {
		t = http.DetectContentType(data[:min(len(data), 512)])
	}
	if t == "" {
		t = "application/octet-stream"
	}
	return t
}

// attachment is a Content-Disposition with any name (RFC 6266).
func attachment(name string) string {
	if text := mime.FormatMediaType("attachment", map[string]string{"filename": strings.ToValidUTF8(name, "\uFFFD")}); text != "" {
		return text
	}
	return "attachment"
}

// plainTag returns the ETag of the content that an ETag is of a compressed variant of.
func plainTag(tag string) string {
	if rest, ok := strings.CutSuffix(tag, "-gzip\""); ok {
		return rest + "\""
	}
	return tag
}
