package dav

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"strings"

	"golang.org/x/net/webdav"

	"github.com/foliofs/folio"
)

// propsXattr is the extended attribute that holds the dead properties of a file, which clients set
// and only clients understand. It is JSON, an array of deadProp.
const propsXattr = "user.webdav.properties"

// A deadProp is a property of a file. A name in XML is two strings, and a value is XML.
type deadProp struct {
	Space string `json:"space"`
	Local string `json:"local"`
	Lang  string `json:"lang,omitempty"`
	XML   string `json:"xml"`
}

// A resource is the file of a URL. A symbolic link has properties of its own.
type resource struct {
	ctx  context.Context // of the request
	fs   *FileSystem
	path string // in the volume
	name string // of the request
}

var _ webdav.DeadPropsHolder = (*resource)(nil)

// lockDiscovery is the property that lists the locks on a file (RFC 4918, section 15.8).
var lockDiscovery = xml.Name{Space: "DAV:", Local: "lockdiscovery"}

// DeadProps returns the dead properties, and lockDiscovery, which package webdav knows only as one
// that clients cannot set.
func (r *resource) DeadProps() (map[xml.Name]webdav.Property, error) {
	list, err := r.load(r.fs.tree(r.ctx))
	props := make(map[xml.Name]webdav.Property, len(list))
	maps.Copy(props, quotaOf(r.ctx))
	for _, p := range list {
		name := xml.Name{Space: p.Space, Local: p.Local}
		props[name] = webdav.Property{XMLName: name, Lang: p.Lang, InnerXML: []byte(p.XML)}
	}
	if _, ok := props[win32Modified]; ok {
		if info, err := r.fs.tree(r.ctx).Stat(r.path); err == nil { // it may have changed since
			props[win32Modified] = webdav.Property{XMLName: win32Modified, InnerXML: []byte(info.ModTime().UTC().Format(http.TimeFormat))}
		}
	}
	if h := r.fs.handler; h != nil {
		props[lockDiscovery] = webdav.Property{XMLName: lockDiscovery, InnerXML: h.discover(r.ctx, r.fs.tree(r.ctx), r.name)}
	}
	return props, err
}

// load reads the dead properties of a file. It refuses a file with damaged properties, because the
// next change would lose them.
func (r *resource) load(t tree) (list []deadProp, err error) {
	xattrs, err := t.Xattrs(r.path)
	if err != nil {
		return nil, err
	}
	if text, ok := xattrs[propsXattr]; ok {
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, &fs.PathError{Op: "read " + propsXattr + " of", Path: r.path, Err: err}
		}
	}
	return list, nil
}

// Patch sets and removes dead properties, all of them or none.
func (r *resource) Patch(patches []webdav.Proppatch) ([]webdav.Propstat, error) {
	stat := webdav.Propstat{Status: http.StatusOK}
	for _, patch := range patches {
		for _, p := range patch.Props {
			stat.Props = append(stat.Props, webdav.Property{XMLName: p.XMLName})
		}
	}
	var err error
	if t := tx(r.ctx); t != nil {
		err = r.patch(t, patches)
	} else {
		err = r.fs.vol.Update(r.ctx, func(t *folio.Tx) error { return r.patch(t, patches) })
	}
	switch {
	case errors.Is(err, errTooMany) || errors.Is(err, folio.ErrFull):
		stat.Status, err = http.StatusInsufficientStorage, nil
	case errors.Is(err, errProtected):
		stat.Status, stat.XMLError, err = http.StatusForbidden, `<D:cannot-modify-protected-property xmlns:D="DAV:"/>`, nil
	case errors.Is(err, errNotXML) || errors.Is(err, errTime):
		stat.Status, err = http.StatusConflict, nil
	}
	if err != nil {
		return nil, err
	}
	return []webdav.Propstat{stat}, nil
}

// maxProps is how many bytes an extended attribute can hold.
const maxProps = 64 << 10

var (
	errTooMany = errors.New("the properties are larger than an extended attribute can be")
	errNotXML  = errors.New("the value of a property is not XML")

	errProtected = errors.New("the property cannot be removed")
)

// patch sets and removes properties in the order of the request. Times are attributes of the file,
// all others dead properties.
func (r *resource) patch(t *folio.Tx, patches []webdav.Proppatch) error {
	list, err := r.load(t)
	if err != nil {
		return err
	}
	for _, patch := range patches {
		for _, p := range patch.Props {
			if p.XMLName == lockDiscovery || p.XMLName == quotaAvailable || p.XMLName == quotaUsed {
				continue // a copy would get it
			}
			known, err := r.patchTime(t, p, patch.Remove)
			if err != nil {
				return err
			}
			if known {
				continue
			}
			list = without(list, p.XMLName)
			if !patch.Remove {
				if !wellFormed(p.InnerXML) {
					return errNotXML
				}
				list = append(list, deadProp{p.XMLName.Space, p.XMLName.Local, p.Lang, string(p.InnerXML)})
			}
		}
	}
	return r.store(t, list)
}

// patchTime sets the time of modification if a property stands for it. known says that the property
// has no other value.
func (r *resource) patchTime(t *folio.Tx, p webdav.Property, remove bool) (known bool, err error) {
	known = p.XMLName == modified || p.XMLName == lastModified
	at, ok := parseTime(string(p.InnerXML))
	switch {
	case !known && p.XMLName != win32Modified:
		return false, nil
	case remove && p.XMLName == modified:
		return true, errProtected
	case remove:
		return known, nil
	case ok:
		return known, t.Chtimes(r.path, at, at)
	case known:
		return true, errTime
	}
	return false, nil // Windows sends times before 1970 if it does not know a time
}

// store writes the dead properties, as one extended attribute. A file without any has no such
// attribute.
func (r *resource) store(t *folio.Tx, list []deadProp) error {
	if len(list) == 0 {
		err := t.RemoveXattr(r.path, propsXattr)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if len(text) > maxProps {
		return errTooMany
	}
	return t.SetXattr(r.path, propsXattr, text)
}

// wellFormed reports whether a value can be put between two tags. Package webdav accepts some
// values that it would write as broken XML.
func wellFormed(value []byte) bool {
	d := xml.NewDecoder(io.MultiReader(strings.NewReader("<value>"), bytes.NewReader(value), strings.NewReader("</value>")))
	for {
		if _, err := d.Token(); err != nil {
			return err == io.EOF
		}
	}
}

// without returns a list without the property of that name.
func without(list []deadProp, name xml.Name) []deadProp {
	kept := list[:0]
	for _, p := range list {
		if p.Space != name.Space || p.Local != name.Local {
			kept = append(kept, p)
		}
	}
	return kept
}
