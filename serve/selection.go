package serve

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve/internal/page"
)

// Limits of a selection.
const (
	maxSelected      = 5000
	maxSelectionBody = 4 << 20
)

var (
	errForm       = refuse(http.StatusBadRequest, "The form cannot be read.")
	errNothing    = refuse(http.StatusBadRequest, "Nothing is selected.")
	errOtherNames = refuse(http.StatusConflict, "Other programs have made or removed files here meanwhile. Load the page again to see how many there are now.")
	errSelected   = refuse(http.StatusRequestEntityTooLarge, "These are too many entries at once.")
)

// A selection is several entries of a directory, which the checkboxes of its page name. Its fields
// in a form are dir, the URL of the directory, and name, one for each entry. A name is escaped as
// in a URL, so that it can have any bytes.
type selection struct {
	*change // of the directory
	names   []string
}

// newSelection returns the files that the form of a request selects. The caller must release its
// place.
func newSelection(c *call) (*selection, error) {
	if c.r.Method != http.MethodPost {
		return nil, errMethod
	}
	names, err := selectedNames(c)
	switch {
	case err != nil:
		return nil, err
	case len(names) == 0 && !c.selectsAll():
		return nil, errNothing
	}
	u, err := parseLocal(c.r.PostForm.Get("dir"))
	if err != nil || !covers(c.s.base, strings.TrimSuffix(u.Path, "/")) {
		return nil, errTarget
	}
	p, err := c.find(strings.TrimPrefix(u.Path, c.s.base))
	if err != nil {
		return nil, err
	}
	if err = p.mustChange(); err == nil && c.selectsAll() {
		names, err = c.allNames(p)
	}
	if err != nil {
		p.release()
		return nil, err
	}
	return &selection{&change{call: c, p: p}, names}, nil
}

// selectsAll reports whether a form selects all entries of the directory, not only the ones on one
// page of a listing. Its field all is their number, as the reader has seen it, and match the text
// of the filter.
func (c *call) selectsAll() bool { return c.r.Form.Get("all") != "" }

// allNames returns all names in the directory that match the filter of the form. If they are not as
// many as the reader has seen, it refuses the form.
func (c *call) allNames(p *place) (names []string, err error) {
	err = p.view(c.r.Context(), func(rx *folio.Rx) error {
		real, err := p.resolve(rx, p.name, true, rightRead)
		if err != nil {
			return err
		}
		if info, err := rx.Lstat(real); err != nil || !info.IsDir() {
			return errNoDir
		}
		list, err := p.entries(rx, real)
		for i := range list {
			if page.Matches(list[i].Name, c.r.Form.Get("match")) {
				names = append(names, list[i].Name)
			}
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case strconv.Itoa(len(names)) != c.r.Form.Get("all"):
		return nil, errOtherNames
	case len(names) == 0:
		return nil, errNothing
	}
	slices.Sort(names)
	return names, nil
}

// selectedNames returns the names in the form or in the query of a request, each once.
func selectedNames(c *call) (names []string, err error) {
	c.r.Body = http.MaxBytesReader(c.w, c.r.Body, maxSelectionBody)
	if err := c.r.ParseForm(); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, errSelected
		}
		return nil, errForm
	}
	for _, escaped := range c.r.Form["name"] {
		name, err := url.PathUnescape(escaped)
		if err != nil || name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
			return nil, errTarget
		}
		names = append(names, name)
	}
	if len(names) > maxSelected {
		return nil, errSelected
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// each calls fn with a change of each entry. The error of one says which it is about.
func (s *selection) each(fn func(c *change, name string) error) error {
	for _, name := range s.names {
		p := *s.p
		p.name, p.dir = path.Join(s.p.name, name), false
		if err := fn(&change{call: s.call, p: &p}, name); err != nil {
			f := *s.failureOf(err)
			if f.status >= http.StatusInternalServerError {
				return err
			}
			f.message = fmt.Sprintf("%q: %s", name, f.message)
			return &f
		}
	}
	return nil
}
