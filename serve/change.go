package serve

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/dav"
)

var (
	errName         = refuse(http.StatusBadRequest, "A new name is UTF-8 without control characters, and not one of this server's own.")
	errSnapshot     = refuse(http.StatusForbidden, "A snapshot cannot be changed.")
	errServedRead   = refuse(http.StatusForbidden, "This volume is served for reading only.")
	errCondition    = refuse(http.StatusPreconditionFailed, "This was changed in the meantime.")
	errNoParent     = refuse(http.StatusConflict, "There is no directory for this.")
	errContentRange = refuse(http.StatusBadRequest, "A part of a file cannot be uploaded by PUT.")
	errRoot         = refuse(http.StatusForbidden, "This cannot be done with the root.")
)

// A change is a request to change a place. Every one checks who may make it, and on which
// conditions, in this file.
type change struct {
	*call
	p     *place
	mtime time.Time // that the client gives a new file; zero is now
}

// takeMtime reads the modification time that a client sends with an upload.
func (c *change) takeMtime() (err error) {
	c.mtime, err = dav.Mtime(c.r)
	return err
}

// setMtime gives a file that time. old is the file that it replaces, or nil.
func (c *change) setMtime(tx *folio.Tx, real string, old fs.FileInfo) error {
	if c.mtime.IsZero() {
		return nil
	}
	at := c.mtime
	if old != nil {
		at = dav.After(old, at)
	}
	return tx.Chtimes(real, at, at)
}

// mustChange refuses changes where there are none.
func (p *place) mustChange() error {
	switch {
	case p.tree == nil:
		return errRoot
	case p.snapshot != "":
		return errSnapshot
	case p.tree.ReadOnly:
		return errServedRead
	}
	return nil
}

// checkName refuses names that no client should make: names that confuse terminals and other
// programs.
func checkName(name string) error {
	for e := range strings.SplitSeq(name, "/") {
		if e == "" || e == "." || e == ".." || e == private || !utf8.ValidString(e) || strings.IndexFunc(e, unicode.IsControl) >= 0 {
			return errName
		}
	}
	return nil
}

// conditions checks If-Match, If-None-Match and If-Unmodified-Since (RFC 9110, section 13) against
// a file, or against nothing if info is nil.
func (c *change) conditions(info fs.FileInfo) error {
	tag := ""
	if info != nil {
		tag = c.p.etag(info)
	}
	h := c.r.Header
	if match := h.Get("If-Match"); match != "" {
		if !listed(match, tag) {
			return errCondition
		}
	} else if since, err := http.ParseTime(h.Get("If-Unmodified-Since")); err == nil && info != nil && info.ModTime().Unix() > since.Unix() {
		return errCondition
	}
	if none := h.Get("If-None-Match"); none != "" && listed(none, tag) {
		return errCondition
	}
	return nil
}

// parentExists refuses a new file that no directory is there for, as WebDAV wants it.
func (p *place) parentExists(in lookuper, real string) error {
	info, err := in.Lstat(path.Dir(real))
	if isMissing(err) || err == nil && !info.IsDir() {
		return errNoParent
	}
	return err
}

// missingParent turns the error of a path below nothing into a conflict.
func missingParent(err error) error {
	if isMissing(err) || errors.Is(err, folio.ErrNotDirectory) {
		return errNoParent
	}
	return err
}

// update calls fn in a transaction. A client that goes away does not end it half way.
func (c *change) update(fn func(tx *folio.Tx) error) error {
	err := c.p.vol.Update(context.WithoutCancel(c.r.Context()), fn)
	if err != nil {
		for _, giveBack := range c.ended {
			giveBack()
		}
	}
	return err
}

// endLocks ends those below a path that a transaction removes, and with itself those on it.
func (c *change) endLocks(real string, itself bool) {
	c.ended = append(c.ended, c.p.vol.dav.Removed(real, itself))
}

// created answers that a file was made, or changed.
func (c *change) created(created bool) {
	status := http.StatusNoContent
	if created {
		status = http.StatusCreated
	}
	c.w.Header().Set("Cache-Control", "no-store")
	if !c.mtime.IsZero() {
		c.w.Header().Set(dav.MtimeHeader, "accepted")
	}
	c.w.WriteHeader(status)
}
