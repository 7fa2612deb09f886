package serve

import (
	"context"
	"errors"
	"net/http"
	"path"

	"github.com/tus/tusd/v2/pkg/handler"

	"github.com/foliofs/folio"
)

// tusCallKey is the key of the call in the context of a request.
type tusCallKey struct{}

// A tusCall is a request of tus. place is the target of a new upload; it is set for POST only.
type tusCall struct {
	*call
	place *place
	id    string // of the upload that POST makes, or ""
}

// context returns the context of the request, which carries the call.
func (c *tusCall) context() context.Context {
	return context.WithValue(c.r.Context(), tusCallKey{}, c)
}

func tusCallOf(ctx context.Context) *tusCall {
	tc, _ := ctx.Value(tusCallKey{}).(*tusCall)
	return tc
}

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

// mayUpload checks the target of an upload. Directories on the way to it are made when it is
// complete.
func (c *change) mayUpload(in lookuper, overwrite bool) error {
	p := c.p
	if err := checkName(p.name); err != nil {
		return err
	}
	real, info, err := p.lookup(in, p.name, true, rightUpload)
	if isMissing(err) {
		return c.mayMake(in, err)
	}
	switch {
	case err != nil:
		return err
	case info == nil:
		return c.mustBeFree(in, real, true)
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
	return c.mustBeFree(in, real, false)
}

// mayMake checks the rights to a file and to the directories on the way to it, which are made with
// it. missing is the error that says that they are not there.
func (c *change) mayMake(in lookuper, missing error) error {
	p := c.p
	real, names, err := p.resolveExisting(in, path.Dir(p.name))
	if err != nil || len(names) == 0 {
		return missing
	}
	if err := c.mustBeFree(in, path.Join(real, names[0]), true); err != nil {
		return err
	}
	for _, name := range append(names, path.Base(p.name)) {
		real = path.Join(real, name)
		if err := p.access.check(p.shown(real), rightUpload); err != nil {
			return err
		}
	}
	return nil
}

var errTakenUpload = refuse(http.StatusConflict, "There is a file with this name.")
