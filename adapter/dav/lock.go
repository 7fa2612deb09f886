package dav

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/webdav"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/posix"
)

// The method LOCK (RFC 4918, section 9.10). Package webdav's knows no shared locks.

var (
	errLockInfo = errors.New("the request is for no lock that there is: write, and either exclusive or shared")
	errDepth    = errors.New("the depth of a lock is 0 or infinity")
	errPrefix   = errors.New("the path is not one that is served")
	errToken    = errors.New("a lock is refreshed by an If header with its token")

	errLockToken = errors.New("UNLOCK needs a Lock-Token header, such as <TOKEN>")
	errNoLock    = errors.New("there is no lock with this token on this file")
	errForeign   = errors.New("the lock belongs to another user")
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

// UnmarshalXML keeps the XML of an owner, which clients get with the lock. It writes each element
// again, without attributes, comments and instructions, so that nothing in it can break an answer.
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
	var l *lock
	var status int
	var err error
	if len(body) == 0 {
		l, err = h.refreshLock(r)
		status = http.StatusOK
	} else if l, err = h.newLock(r, body); err == nil {
		l, status, err = h.takeLock(r, l)
	}
	if conflict, ok := errors.AsType[*conflictError](err); ok {
		h.refuseLock(w, r, conflict.with)
		return
	}
	if err != nil {
		h.refuse(w, r, status, err)
		return
	}
	if len(body) > 0 {
		w.Header().Set("Lock-Token", "<"+l.token+">")
	}
	w.Header().Set("Content-Type", xmlType)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `<?xml version="1.0" encoding="utf-8"?>
<D:prop xmlns:D="DAV:"><D:lockdiscovery>`+h.describe(r.Context(), h.vol, l, r.URL.Path)+"</D:lockdiscovery></D:prop>\n") // no client is left to be told of an error
	h.log(r, nil)
}

// newLock returns the lock that a request asks for.
func (h *Handler) newLock(r *http.Request, body []byte) (*lock, error) {
	name, ok := strings.CutPrefix(r.URL.Path, h.prefix)
	if !ok {
		return nil, refuse(errPrefix, http.StatusNotFound)
	}
	var info lockInfo
	if err := xml.Unmarshal(body, &info); err != nil {
		return nil, refuse(err, http.StatusBadRequest)
	}
	if info.Write == nil || (info.Exclusive == nil) == (info.Shared == nil) {
		return nil, refuse(errLockInfo, http.StatusBadRequest)
	}
	depth := strings.ToLower(cmp.Or(r.Header.Get("Depth"), "infinity"))
	if depth != "0" && depth != "infinity" {
		return nil, refuse(errDepth, http.StatusBadRequest)
	}
	l := &lock{
		user: userOf(r.Context()), root: clean(name), owner: string(info.Owner), alone: depth == "0", shared: info.Shared != nil,
		timeout: lockTimeout(r.Header.Get("Timeout")),
	}
	switch {
	case len(l.owner) > maxOwner:
		return nil, refuse(errOwner, http.StatusRequestEntityTooLarge)
	case len(l.root) > maxLockRoot:
		return nil, refuse(errLockRoot, http.StatusRequestURITooLong)
	}
	return l, nil
}

// takeLock makes a lock, within a transaction. It makes an empty file if there is none, because
// only an existing file can be locked.
func (h *Handler) takeLock(r *http.Request, wish *lock) (made *lock, status int, err error) {
	err = h.vol.Update(r.Context(), func(tx *folio.Tx) (err error) {
		changes, err := h.allow(tx, r)
		// The existing file is not changed, so only the two locks can conflict.
		if refused, ok := errors.AsType[*Refusal](err); ok && refused.Status == http.StatusLocked && len(changes) == 1 && !changes[0].Placed {
			err = nil
		}
		if err != nil {
			return err
		}
		if status, err = h.mapURL(r.WithContext(context.WithValue(r.Context(), txKey{}, &transaction{tx: tx})), wish.root); err != nil {
			return err
		}
		l := *wish
		l.places = h.files.ways(r.Context(), tx, l.root)
		made, err = h.locks.create(time.Now(), l)
		return err
	})
	switch {
	case err == nil:
		return made, status, nil
	case made != nil:
		h.locks.remove(made.token) // no client knows it yet
	case errors.Is(err, errLocks), errors.Is(err, errUserLocks):
		err = refuse(err, http.StatusInsufficientStorage)
	}
	if status < http.StatusBadRequest {
		status = cmp.Or(statusOf(err), http.StatusInternalServerError)
	}
	return nil, status, err
}

// refuseLock answers a request for a lock that another one is in the way of. If that is on
// something else, the answer names both (RFC 4918, section 9.10.3).
func (h *Handler) refuseLock(w http.ResponseWriter, r *http.Request, other *lock) {
	refused := &Refusal{errConflict, webdav.StatusLocked, "no-conflicting-lock", h.href(r.Context(), h.vol, other, r.URL.Path)}
	if other.coversAny(h.files.places(r.Context(), h.vol, strings.TrimPrefix(r.URL.Path, h.prefix))) {
		h.refuse(w, r, refused.Status, refused)
		return
	}
	w.Header().Set("Content-Type", xmlType)
	w.WriteHeader(http.StatusMultiStatus)
	_, _ = fmt.Fprintf(w, `<?xml version="1.0" encoding="utf-8"?>
<D:multistatus xmlns:D="DAV:">
<D:response><D:href>%s</D:href><D:status>HTTP/1.1 423 Locked</D:status><D:error>%s</D:error></D:response>
<D:response><D:href>%s</D:href><D:status>HTTP/1.1 424 Failed Dependency</D:status></D:response>
</D:multistatus>
`, refused.Href, refused.element(), escapeXML(r.URL.EscapedPath())) // no client is left to be told of an error
	h.log(r, errConflict)
}

// errMatch says that a token is none of a lock on the file.
func errMatch(err error, status int) error {
	return &Refusal{Err: err, Status: status, Condition: "lock-token-matches-request-uri"}
}

// refreshLock lets a lock live on whose token is in the If header.
func (h *Handler) refreshLock(r *http.Request) (*lock, error) {
	lists, err := parseIf(r.Header.Get("If"))
	if err != nil || len(lists) == 0 {
		return nil, refuse(errToken, http.StatusBadRequest)
	}
	places := h.files.places(r.Context(), h.vol, strings.TrimPrefix(r.URL.Path, h.prefix))
	for token := range tokensOf(lists) {
		l, ok := h.locks.refresh(time.Now(), token, userOf(r.Context()), places, lockTimeout(r.Header.Get("Timeout")))
		if ok {
			return l, nil
		}
	}
	return nil, errMatch(errNoLock, http.StatusPreconditionFailed)
}

// unlock answers an UNLOCK request.
func (h *Handler) unlock(w http.ResponseWriter, r *http.Request) {
	if err := h.endLock(r); err != nil {
		h.refuse(w, r, http.StatusBadRequest, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
	h.log(r, nil)
}

// endLock ends the lock whose token is in the Lock-Token header.
func (h *Handler) endLock(r *http.Request) error {
	token, ok := strings.CutPrefix(r.Header.Get("Lock-Token"), "<")
	token, end := strings.CutSuffix(token, ">")
	if !ok || !end {
		return refuse(errLockToken, http.StatusBadRequest)
	}
	l := h.locks.find(time.Now(), token)
	switch {
	case l == nil:
		return errMatch(errNoLock, http.StatusConflict)
	case l.user != userOf(r.Context()):
		return refuse(errForeign, http.StatusForbidden)
	case !l.coversAny(h.files.places(r.Context(), h.vol, strings.TrimPrefix(r.URL.Path, h.prefix))):
		return errMatch(errNoLock, http.StatusConflict)
	}
	h.locks.remove(token)
	return nil
}

// mapURL makes an empty file if there is none.
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

// describe returns a lock as a client sees it. Only the user to whom it belongs learns the token.
func (h *Handler) describe(ctx context.Context, in Lookuper, l *lock, sent string) string {
	scope, depth, token := "exclusive", "infinity", ""
	if l.shared {
		scope = "shared"
	}
	if l.alone {
		depth = "0"
	}
	if l.user == userOf(ctx) {
		token = "\n<D:locktoken><D:href>" + l.token + "</D:href></D:locktoken>"
	}
	return fmt.Sprintf(`<D:activelock xmlns:D="DAV:">
<D:locktype><D:write/></D:locktype>
<D:lockscope><D:%s/></D:lockscope>
<D:depth>%s</D:depth>
<D:owner>%s</D:owner>
<D:timeout>Second-%d</D:timeout>%s
<D:lockroot><D:href>%s</D:href></D:lockroot>
</D:activelock>`, scope, depth, l.owner, max(0, time.Until(l.expires).Round(time.Second))/time.Second, token, h.href(ctx, in, l, sent))
}

// maxDiscovery is how many bytes about locks a file gets in a listing, apart from its first lock.
const maxDiscovery = 2 << 10

// discover describes the locks on a file, for the property lockdiscovery.
func (h *Handler) discover(ctx context.Context, in Lookuper, name string) []byte {
	held := h.locks.held(time.Now())
	if len(held) == 0 {
		return nil
	}
	var text []byte
	places := h.files.places(ctx, in, name)
	for _, l := range held {
		if len(text) < maxDiscovery && l.coversAny(places) {
			text = append(text, h.describe(ctx, in, l, h.prefix+name)...)
		}
	}
	return text
}
