package serve

import (
	"errors"
	"io/fs"
	"net/http"
	"path"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/dav"
)

// A davScope limits a request by WebDAV to the files that its user reaches without WebDAV.
type davScope struct {
	p *place
	c *change
}

var _ interface {
	dav.Scope
	dav.Remover
	dav.Allower
	dav.Quoter
} = davScope{}

// Allow checks the conditions of a request once more, against the file as it is in the transaction.
func (s davScope) Allow(in dav.Lookuper) error {
	_, info, err := s.p.lookup(in, s.p.name, true, rightRead)
	if err == nil {
		err = s.c.conditions(info)
	}
	if err != nil {
		f := s.c.failureOf(err)
		return &dav.Refusal{Err: f, Status: f.status}
	}
	return nil
}

// Remove moves a file to the trash, as remove does.
func (s davScope) Remove(tx *folio.Tx, real string) error {
	_, err := s.c.dispose(tx, real)
	return err
}

// Path resolves the path of a URL behind the tree's.
func (s davScope) Path(in dav.Lookuper, name string, follow, change bool) (string, error) {
	need := rightRead
	if change {
		need = rightWrite
	}
	real, err := s.p.resolve(in, name, follow, need)
	if err != nil && !isPathError(err) {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if err == nil && change {
		if _, missing := in.Lstat(real); missing != nil && checkName(path.Base(real)) != nil {
			err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
		}
	}
	return real, err
}

// Shows reports whether a listing contains a file.
func (s davScope) Shows(in dav.Lookuper, name string) bool {
	_, err := s.Path(in, name, true, false)
	return err == nil
}

func isPathError(err error) bool {
	_, ok := errors.AsType[*fs.PathError](err)
	return ok
}

// mustBeFree refuses to change a file that a client of WebDAV has locked, unless the request gives
// the token, and one whose If header does not hold. It is called in the transaction that makes the
// change. placed says that the name comes or goes.
func (c *change) mustBeFree(in lookuper, real string, placed bool) error {
	return c.p.vol.dav.Confirm(in, c.davRequest(), dav.Change{Path: real, Placed: placed})
}

// davRequest returns the request as package dav takes it, with its user's scope.
func (c *change) davRequest() *http.Request {
	return c.r.WithContext(dav.WithUser(dav.WithScope(c.r.Context(), davScope{c.p, c}), c.user))
}
