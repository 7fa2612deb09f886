package dav

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/webdav"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/posix"
)

// The method LOCK (RFC 4918, section 9.10). That of package webdav knows no shared locks.

var (
	errLockInfo = errors.New("the request is for no lock that there is: write, and either exclusive or shared")
	errDepth    = errors.New("the depth of a lock is 0 or infinity")
	errPrefix   = errors.New("the path is not one that is served")
	errToken    = errors.New("a lock is refreshed by an If header with its token")
)

// A lockInfo is the body of a LOCK request.
type lockInfo struct {
	XMLName   xml.Name  `xml:"DAV: lockinfo"`
	Exclusive *struct{} `xml:"DAV: lockscope>exclusive"`
	Shared    *struct{} `xml:"DAV: lockscope>shared"`
	Write     *struct{} `xml:"DAV: locktype>write"`
	Owner     owner     `xml:"DAV: owner"`
}

// An owner is XML that a client finds again. It is written again, because its prefixes may have
// been declared outside of it.
type owner string

func (o *owner) UnmarshalXML(d *xml.Decoder, _ xml.StartElement) error {
	var text bytes.Buffer
	e := xml.NewEncoder(&text)
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			t.Attr = nil // among them the declarations, which the encoder makes itself
			token = t
		case xml.EndElement:
			if depth == 0 {
				err := e.Flush()
				*o = owner(text.String())
				return err
			}
			depth--
		case xml.Comment, xml.ProcInst, xml.Directive:
			continue
		}
		if err := e.EncodeToken(token); err != nil {
			return err
		}
	}
}

// lock answers a LOCK request.
func (h *Handler) lock(w http.ResponseWriter, r *http.Request, body []byte) {
	l, status, err := h.takeLock(r, body)
	if err != nil {
		h.refuse(w, r, status, err)
		return
	}
	if len(body) > 0 {
		w.Header().Set("Lock-Token", "<"+l.token+">")
	}
	w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, l.discovery(h.prefix)) // no client is left to be told of an error
	h.log(r, nil)
}

// takeLock makes a lock, or refreshes one if there is no body.
func (h *Handler) takeLock(r *http.Request, body []byte) (l lock, status int, err error) {
	name, ok := strings.CutPrefix(r.URL.Path, h.prefix)
	if !ok {
		return l, http.StatusNotFound, errPrefix
	}
	timeout := lockTimeout(r.Header.Get("Timeout"))
	if len(body) == 0 {
		return h.refreshLock(r, timeout)
	}
	var info lockInfo
	if err := xml.Unmarshal(body, &info); err != nil {
		return l, http.StatusBadRequest, err
	}
	if info.Write == nil || (info.Exclusive == nil) == (info.Shared == nil) {
		return l, http.StatusBadRequest, errLockInfo
	}
	depth := strings.ToLower(cmp.Or(r.Header.Get("Depth"), "infinity"))
	if depth != "0" && depth != "infinity" {
		return l, http.StatusBadRequest, errDepth
	}
	l.LockDetails = webdav.LockDetails{Root: clean(name), Duration: timeout, OwnerXML: string(info.Owner), ZeroDepth: depth == "0"}
	l.shared = info.Shared != nil
	switch {
	case len(l.OwnerXML) > maxOwner:
		return l, http.StatusRequestEntityTooLarge, errOwner
	case len(l.Root) > maxLockRoot:
		return l, http.StatusRequestURITooLong, errLockRoot
	}
	l.token, err = h.locks.create(time.Now(), l.LockDetails, l.shared)
	switch {
	case errors.Is(err, errLocks):
		return l, http.StatusInsufficientStorage, err
	case err != nil:
		return l, webdav.StatusLocked, err
	}
	status, err = h.mapURL(r, name)
	if err != nil {
		_ = h.locks.Unlock(time.Now(), l.token) // no client knows it yet
	}
	return l, status, err
}

// refreshLock lets a lock live on whose token is in the If header.
func (h *Handler) refreshLock(r *http.Request, timeout time.Duration) (lock, int, error) {
	condition := r.Header.Get("If")
	start, end := strings.LastIndexByte(condition, '<'), strings.LastIndexByte(condition, '>')
	if start < 0 || end < start {
		return lock{}, http.StatusBadRequest, errToken
	}
	name, _ := strings.CutPrefix(r.URL.Path, h.prefix)
	l, err := h.locks.refresh(time.Now(), condition[start+1:end], clean(name), timeout)
	if err != nil {
		return l, http.StatusPreconditionFailed, err
	}
	return l, http.StatusOK, nil
}

// mapURL makes an empty file if there is none, because only an existing file can be locked.
func (h *Handler) mapURL(r *http.Request, name string) (status int, err error) {
	_, err = h.dav.FileSystem.Stat(r.Context(), name)
	switch {
	case err == nil:
		return http.StatusOK, nil
	case !errors.Is(err, fs.ErrNotExist):
		return cmp.Or(statusOf(err), http.StatusInternalServerError), err
	}
	f, err := h.dav.FileSystem.OpenFile(r.Context(), name, posix.ReadWrite|posix.Create, 0o666)
	if err == nil {
		err = f.Close()
	}
	switch {
	case errors.Is(err, folio.ErrIsDirectory): // another client made it meanwhile
		return http.StatusOK, nil
	case errors.Is(err, fs.ErrNotExist):
		return http.StatusConflict, err
	case err != nil:
		return cmp.Or(statusOf(err), http.StatusInternalServerError), err
	}
	return http.StatusCreated, nil
}

// maxTimeout is how long a lock lasts that is not refreshed: clients go away without a word.
const maxTimeout = time.Hour

// lockTimeout returns how long a lock shall last: the first of the wishes in a Timeout header that
// says so in seconds, or maxTimeout.
func lockTimeout(header string) time.Duration {
	for wish := range strings.SplitSeq(header, ",") {
		text, ok := strings.CutPrefix(strings.TrimSpace(wish), "Second-")
		if seconds, err := strconv.ParseUint(text, 10, 32); ok && err == nil {
			return min(time.Duration(seconds)*time.Second, maxTimeout)
		}
	}
	return maxTimeout
}

// discovery is the answer to a request that has made or refreshed the lock.
func (l *lock) discovery(prefix string) string {
	return `<?xml version="1.0" encoding="utf-8"?>
<D:prop xmlns:D="DAV:"><D:lockdiscovery>` + l.active(prefix) + "</D:lockdiscovery></D:prop>\n"
}

// active describes the lock to a client.
func (l *lock) active(prefix string) string {
	scope, depth := "exclusive", "infinity"
	if l.shared {
		scope = "shared"
	}
	if l.ZeroDepth {
		depth = "0"
	}
	var root strings.Builder
	_ = xml.EscapeText(&root, []byte((&url.URL{Path: prefix + l.Root}).EscapedPath()))
	return fmt.Sprintf(`<D:activelock xmlns:D="DAV:">
<D:locktype><D:write/></D:locktype>
<D:lockscope><D:%s/></D:lockscope>
<D:depth>%s</D:depth>
<D:owner>%s</D:owner>
<D:timeout>Second-%d</D:timeout>
<D:locktoken><D:href>%s</D:href></D:locktoken>
<D:lockroot><D:href>%s</D:href></D:lockroot>
</D:activelock>`, scope, depth, l.OwnerXML, l.Duration/time.Second, l.token, root.String())
}
