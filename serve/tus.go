package serve

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/tus/tusd/v2/pkg/handler"
	"github.com/tus/tusd/v2/pkg/memorylocker"
	"golang.org/x/exp/slog"

	"github.com/foliofs/folio"
)

// Uploads that can be resumed, by tus 1.0 (https://tus.io/protocols/resumable-upload). tusd
// implements the protocol, with the volume as its store.

// newTus returns the handler of uploads to a tree.
func newTus(t *tree, most int64) (*handler.UnroutedHandler, error) {
	composer := handler.NewStoreComposer()
	composer.UseCore(uploadStore{t})
	composer.UseTerminater(uploadStore{t})
	composer.UseConcater(uploadStore{t})
	composer.UseLengthDeferrer(uploadStore{t})
	composer.UseLocker(memorylocker.New())
	return handler.NewUnroutedHandler(handler.Config{
		StoreComposer: composer, BasePath: t.base + tusPath + strings.TrimPrefix(t.prefix+"/", "/"), MaxSize: most, DisableDownload: true,
		Cors: &handler.CorsConfig{Disable: true}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), NetworkTimeout: stallTime,
	})
}

// answerTus answers requests about uploads: POST to make one, and HEAD, PATCH and DELETE of one.
func answerTus(c *call, target string) error {
	overrideMethod(c.r)
	c.w.Header().Set("Cache-Control", "no-store")
	if c.r.Method == http.MethodPost {
		return (&tusCall{call: c}).begin()
	}
	prefix, _, several := strings.Cut(target, "/")
	t := c.s.trees[0]
	if several {
		t = c.s.tree(prefix)
	}
	if t == nil || several != (t.prefix != "") {
		return errNoUpload
	}
	var serve http.HandlerFunc
	switch c.r.Method {
	case http.MethodHead:
		serve = t.tus.HeadFile
	case http.MethodPatch:
		serve = t.tus.PatchFile
	case http.MethodDelete:
		serve = t.tus.DelFile
	case http.MethodOptions:
	default:
		return errMethod
	}
	(&tusCall{call: c}).serve(t, serve)
	return nil
}

var errNoUpload = refuse(http.StatusNotFound, "There is no such upload.")

// maxMetadata is how many bytes of metadata an upload has at most. They are kept with it.
const maxMetadata = 8 << 10

var errMetadata = refuse(http.StatusRequestHeaderFieldsTooLarge, "The metadata of an upload have at most 8 KiB.")

// begin makes an upload for the place that its metadata name.
func (c *tusCall) begin() error {
	meta := handler.ParseMetadataHeader(c.r.Header.Get("Upload-Metadata"))
	name := uploadName(meta)
	if name == "" {
		return errTarget
	}
	p, err := c.findIn(meta["root"], name)
	if err != nil {
		return err
	}
	defer p.release()
	if len(c.r.Header.Get("Upload-Metadata")) > maxMetadata {
		return errMetadata
	}
	c.place = p
	if err := p.mustChange(); err != nil {
		return err
	}
	if again, err := c.again(meta); again || err != nil {
		return err
	}
	if err := p.view(c.r.Context(), func(rx *folio.Rx) error { return (&change{call: c.call, p: p}).mayUpload(rx, meta["overwrite"] != "") }); err != nil {
		return err
	}
	c.serve(p.tree, p.tree.tus.PostFile)
	return nil
}

// overrideMethod takes the method of a request from the header X-HTTP-Method-Override, for clients
// that cannot send each method (tus 1.0).
func overrideMethod(r *http.Request) {
	method := r.Header.Get("X-HTTP-Method-Override")
	r.Header.Del("X-HTTP-Method-Override")
	if r.Method == http.MethodPost && (method == http.MethodPatch || method == http.MethodHead || method == http.MethodDelete) {
		r.Method = method
	}
}

// uploadName returns the path of an upload. Clients such as Uppy say it by names of their own.
func uploadName(meta handler.MetaData) string {
	name := meta["path"]
	if name == "" && meta["relativePath"] != "null" {
		name = meta["relativePath"]
	}
	return cmp.Or(name, meta["name"], meta["filename"])
}

// serve lets tusd answer.
func (c *tusCall) serve(t *tree, serve http.HandlerFunc) {
	r := c.r.WithContext(c.context())
	r.Body = tusBody{c.r.Body, c}
	id := path.Base(c.path)
	r.URL = &url.URL{Path: "/" + id} // tusd takes the whole path for the ID
	t.tus.Middleware(serve).ServeHTTP(localLocation{c.w}, r)
}

// A tusBody is the body of a request. It tells errors of the client from errors of the server,
// which tusd would mix up.
type tusBody struct {
	io.ReadCloser
	c *tusCall
}

func (b tusBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, errBrokenBody) || errors.Is(err, os.ErrDeadlineExceeded) {
		err = tusError(b.c, err)
	}
	return n, err
}

// A localLocation makes the Location header of an answer a path: tusd makes it a URL of what a
// client says that the server is called, and knows nothing of TLS in a proxy.
type localLocation struct{ *response }

func (w localLocation) WriteHeader(status int) {
	if u, err := url.Parse(w.Header().Get("Location")); err == nil && u.Path != "" {
		w.Header().Set("Location", u.EscapedPath())
	}
	w.response.WriteHeader(status)
}

func (w localLocation) Unwrap() http.ResponseWriter { return w.response }
