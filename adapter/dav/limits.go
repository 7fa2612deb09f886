package dav

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/foliofs/folio"
)

// Limits of the work that one client can cause.
const (
	maxXML       = 1 << 20  // bytes of the XML in a request
	maxElements  = 1000     // elements and attributes in it
	maxNames     = 100      // elements and attributes in the body of a PROPFIND, which is answered for each file
	maxDepth     = 50       // of elements in elements
	maxIf        = 16 << 10 // bytes of an If header
	maxListing   = 100_000  // entries of a directory that is listed or copied
	maxLocks     = 1000     // that clients who have not logged in hold, together
	maxUserLocks = 250      // that a user holds
	maxAllLocks  = 2000     // of all
	maxOwner     = 4 << 10  // bytes of the owner of a lock
	maxLockRoot  = 4 << 10  // bytes of the path of a lock
)

var (
	errElements    = errors.New("the XML has too many elements")
	errXMLDepth    = errors.New("the elements of the XML lie too deep in each other")
	errIf          = fmt.Errorf("the If header has more than %d bytes", maxIf)
	errListing     = fmt.Errorf("the directory has more than %d entries", maxListing)
	errLocks       = fmt.Errorf("clients hold %d locks already", maxLocks)
	errUserLocks   = fmt.Errorf("the user holds %d locks already", maxUserLocks)
	errOwner       = fmt.Errorf("the owner of a lock has more than %d bytes", maxOwner)
	errLockRoot    = fmt.Errorf("the path of a lock has more than %d bytes", maxLockRoot)
	errRange       = errors.New("a part of a file cannot be uploaded: Content-Range is not for PUT")
	errDestination = errors.New("MOVE and COPY need a Destination header with the URL of the copy")
	errElsewhere   = errors.New("the Destination is not on this server")
	errOverwrite   = errors.New("the Overwrite header is T or F")
)

// checkXML refuses XML that is too large, too deep, or not well-formed in a way that package
// encoding/xml does not see: a declaration like xmlns:a="", which "Namespaces in XML" forbids. A
// text that is no XML at all is left to package webdav.
func checkXML(text io.Reader, most int) error {
	d := xml.NewDecoder(text)
	for depth, elements := 0, 0; ; {
		token, err := d.RawToken()
		if err != nil {
			return nil
		}
		switch t := token.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			depth++
			elements += 1 + len(t.Attr)
			switch {
			case depth > maxDepth:
				return refuse(errXMLDepth, http.StatusBadRequest)
			case elements > most:
				return refuse(errElements, http.StatusRequestEntityTooLarge)
			case emptyNamespace(t.Attr):
				return refuse(errEmptyNamespace, http.StatusBadRequest)
			}
		}
	}
}

func emptyNamespace(attrs []xml.Attr) bool {
	for _, a := range attrs {
		if a.Name.Space == "xmlns" && a.Value == "" {
			return true
		}
	}
	return false
}

// checkPath refuses a path that no file of a volume has. Package webdav would answer some methods
// with 500.
func checkPath(r *http.Request) error {
	if strings.IndexByte(r.URL.Path, 0) >= 0 {
		return refuse(&fs.PathError{Op: r.Method, Path: r.URL.Path, Err: fs.ErrInvalid}, http.StatusBadRequest)
	}
	if len(r.Header.Get("If")) > maxIf {
		return refuse(errIf, http.StatusRequestHeaderFieldsTooLarge)
	}
	return nil
}

// checkDestination refuses a MOVE or COPY whose headers say nothing sensible, and fills in those
// that package webdav takes for something else if they are missing.
func (h *Handler) checkDestination(r *http.Request) error {
	text := r.Header.Get("Destination")
	destination, err := url.Parse(text)
	switch {
	case text == "" || err != nil || strings.IndexByte(destination.Path, 0) >= 0:
		return refuse(errDestination, http.StatusBadRequest)
	case destination.Host != "" && destination.Host != r.Host || destination.Opaque != "" || !strings.HasPrefix(destination.Path, h.prefix):
		return refuse(errElsewhere, http.StatusBadGateway)
	}
	switch r.Header.Get("Overwrite") {
	case "", "T", "t":
		r.Header.Set("Overwrite", "T") // the meaning of a missing one (RFC 4918, section 10.6)
	case "F", "f":
		r.Header.Set("Overwrite", "F")
	default:
		return refuse(errOverwrite, http.StatusBadRequest)
	}
	if nested(r.URL.Path, destination.Path, r.Header.Get("Depth") == "0") {
		return refuse(errNested, http.StatusForbidden)
	}
	return nil
}

// errFiniteDepth is the answer to a PROPFIND for all that is in a directory, at whatever depth (RFC
// 4918, section 9.1).
var errFiniteDepth = &Refusal{
	Err: errors.New("PROPFIND of a directory has the depth 0 or 1"), Status: http.StatusForbidden, Condition: "propfind-finite-depth",
}

// propfind answers a PROPFIND request.
func (h *Handler) propfind(w http.ResponseWriter, r *http.Request) {
	body, ok := h.readXML(w, r, maxNames)
	if !ok {
		return
	}
	r = withQuota(r, body)
	h.inSnapshot(w, r, h.list)
}

// inSnapshot calls fn with a request that reads a snapshot. The answer begins when fn has returned,
// unless it is long, so that a slow client does not keep the snapshot.
func (h *Handler) inSnapshot(w http.ResponseWriter, r *http.Request, fn func(w http.ResponseWriter, r *http.Request)) {
	answer := &delayed{ResponseWriter: w}
	err := h.vol.View(r.Context(), func(rx *folio.Rx) error {
		fn(answer, r.WithContext(context.WithValue(r.Context(), snapshotKey{}, snapshot{rx})))
		return nil
	})
	if err != nil {
		h.refuse(w, r, cmp.Or(statusOf(err), http.StatusInternalServerError), err)
		return
	}
	answer.flush()
}

// list answers a PROPFIND request that reads a snapshot.
func (h *Handler) list(w http.ResponseWriter, r *http.Request) {
	depth := r.Header.Get("Depth")
	name, ok := strings.CutPrefix(r.URL.Path, h.prefix)
	if !ok || depth == "0" {
		h.upstream(w, r)
		return
	}
	err := h.checkListing(r, name)
	switch {
	case errors.Is(err, folio.ErrNotDirectory) || errors.Is(err, fs.ErrNotExist):
	case depth == "" || strings.EqualFold(depth, "infinity"):
		h.refuse(w, r, http.StatusForbidden, errFiniteDepth)
		return
	case errors.Is(err, errListing):
		h.refuse(w, r, http.StatusInsufficientStorage, err)
		return
	}
	h.upstream(w, r)
}

// checkListing returns errListing if a directory has too many entries, and otherwise the error of
// ReadDir.
func (h *Handler) checkListing(r *http.Request, name string) error {
	t := h.files.tree(r.Context())
	p, err := h.files.path(r.Context(), t, name, true, false)
	if err != nil {
		return err
	}
	f, err := t.Open(p)
	if err != nil {
		return err
	}
	defer f.Close()
	for n := 0; ; {
		list, err := f.ReadDir(1000)
		if n += len(list); n > maxListing {
			return errListing
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
