package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/tus/tusd/v2/pkg/handler"
	"github.com/tus/tusd/v2/pkg/memorylocker"
	"golang.org/x/exp/slog"

	"github.com/foliofs/folio"
)

// Uploads that can be resumed, by tus 1.0 (https://tus.io/protocols/resumable-upload). The protocol
// is that of tusd, and the store is the volume.

// newTus returns the handler of uploads to a tree.
func newTus(t *tree, most int64) (*handler.UnroutedHandler, error) {
	composer := handler.NewStoreComposer()
	composer.UseCore(uploadStore{t})
	composer.UseTerminater(uploadStore{t})
	composer.UseLocker(memorylocker.New())
	return handler.NewUnroutedHandler(handler.Config{
		StoreComposer: composer, BasePath: t.base + tusPath + strings.TrimPrefix(t.prefix+"/", "/"), MaxSize: most, DisableDownload: true,
		Cors: &handler.CorsConfig{Disable: true}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), NetworkTimeout: stallTime,
	})
}

// tusCallKey is the key of the call in the context of a request.
type tusCallKey struct{}

// A tusCall is a request of tus. place is what a new upload is for; only POST has one.
type tusCall struct {
	call  *call
	place *place
}

func tusCallOf(ctx context.Context) *tusCall {
	tc, _ := ctx.Value(tusCallKey{}).(*tusCall)
	return tc
}

// tus answers requests about uploads: POST to make one, and HEAD, PATCH and DELETE of one.
func (c *call) tus(target string) error {
	c.r.Header.Del("X-HTTP-Method-Override")
	c.w.Header().Set("Cache-Control", "no-store")
	if c.r.Method == http.MethodPost {
		return c.beginUpload()
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
	c.serveTus(t, serve, nil)
	return nil
}

var errNoUpload = refuse(http.StatusNotFound, "There is no such upload.")

// beginUpload makes an upload for the place that its metadata name.
func (c *call) beginUpload() error {
	meta := handler.ParseMetadataHeader(c.r.Header.Get("Upload-Metadata"))
	if meta["path"] == "" {
		return errTarget
	}
	p, err := c.findIn(meta["root"], meta["path"])
	if err != nil {
		return err
	}
	defer p.release()
	if err := c.mustChange(p); err != nil {
		return err
	}
	if err := p.view(c.r.Context(), func(rx *folio.Rx) error { return c.mayUpload(p, rx, meta["overwrite"] != "") }); err != nil {
		return err
	}
	c.serveTus(p.tree, p.tree.tus.PostFile, p)
	return nil
}

// serveTus lets tusd answer.
func (c *call) serveTus(t *tree, serve http.HandlerFunc, p *place) {
	r := c.r.WithContext(context.WithValue(c.r.Context(), tusCallKey{}, &tusCall{c, p}))
	id := path.Base(c.path)
	r.URL = &url.URL{Path: "/" + id} // tusd takes the whole path for the ID
	t.tus.Middleware(serve).ServeHTTP(localLocation{c.w}, r)
}

// mayUpload checks the target of an upload. Directories on the way to it are made when it is
// complete.
func (c *call) mayUpload(p *place, in lookuper, overwrite bool) error {
	if err := checkName(p.name); err != nil {
		return err
	}
	real, info, err := p.lookup(in, p.name, true, rightUpload)
	if isMissing(err) && p.access.at(p.shown(path.Join(p.within, p.name))).allows(rightUpload) {
		return nil // the directories are made
	}
	switch {
	case err != nil:
		return err
	case info == nil:
		return c.mustBeFree(p, p.name)
	case info.IsDir():
		return folio.ErrIsDirectory
	case !overwrite:
		return errTakenUpload
	case !info.Mode().IsRegular():
		return folio.ErrNotRegular
	}
	if err := p.access.check(p.shown(real), rightWrite); err != nil {
		return err
	}
	return c.mustBeFree(p, p.name)
}

var errTakenUpload = refuse(http.StatusConflict, "There is a file with this name.")

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

// tusError turns an error of ours into one that tusd answers with.
func tusError(tc *tusCall, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[handler.Error](err); ok || tc == nil {
		return err
	}
	tc.call.err = err
	f := tc.call.failureOf(err)
	return handler.NewError("ERR_FOLIO", f.message, f.status)
}
