package dav

import (
	"errors"
	"net/http"
	"strings"

	"github.com/foliofs/folio/adapter/internal/etag"
)

var errPrecondition = errors.New("the file is not as If-Match, If-None-Match or If-Unmodified-Since want it")

// precondition checks those headers of a change against the file of its URL (RFC 9110, section 13).
// It is called in the transaction that makes the change. A Scope that is an Allower does this by
// itself.
func (h *Handler) precondition(in Lookuper, r *http.Request, name string) error {
	match, none := strings.Join(r.Header.Values("If-Match"), ","), strings.Join(r.Header.Values("If-None-Match"), ",")
	since, err := http.ParseTime(r.Header.Get("If-Unmodified-Since"))
	if match == "" && none == "" && err != nil {
		return nil
	}
	tag, late := "", false
	if p, missing := h.files.path(r.Context(), in, name, true, false); missing == nil {
		if info, missing := in.Lstat(volumePath(plainPath(in, clean(p), true))); missing == nil {
			tag, late = etag.Of(info), info.ModTime().Unix() > since.Unix()
		}
	}
	if match != "" && !lists(match, tag) || match == "" && err == nil && late || none != "" && lists(strings.ReplaceAll(none, "W/", ""), tag) {
		return refuse(errPrecondition, http.StatusPreconditionFailed)
	}
	return nil
}

// lists reports whether a list of tags has one. The tag "" means that there is no file. No list
// contains it.
func lists(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); tag != "" && (one == tag || one == "*") {
			return true
		}
	}
	return false
}
