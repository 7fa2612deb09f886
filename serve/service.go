package serve

import (
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/foliofs/folio/serve/internal/page"
)

// A service answers requests that are about no file.
type service struct{ *call }

// health says that the server runs and can read its volumes.
func (c service) health() error {
	for _, t := range c.s.trees {
		o, err := t.acquire()
		if err != nil {
			return err
		}
		_, err = o.Stat(t.Dir)
		o.release()
		if err != nil {
			t.lose(err)
			return err
		}
	}
	c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	c.w.Header().Set("Cache-Control", "no-store")
	text := "ok\n"
	for _, warning := range []string{c.s.certificateWarning(time.Now()), c.s.warning()} {
		if warning != "" {
			text += "warning: " + warning + "\n"
		}
	}
	_, err := io.WriteString(c.w, text)
	return err
}

// asset sends a part of the pages.
func (c service) asset() error {
	if strings.HasSuffix(c.path, "/") {
		return fs.ErrNotExist
	}
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return errMethod
	}
	c.w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	c.s.assets.ServeHTTP(c.w, c.r)
	return nil
}

// icon sends the picture of the tab for contents that a browser shows by themselves.
func (c service) icon() error {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return errMethod
	}
	c.w.Header().Set("Content-Type", "image/svg+xml")
	c.w.Header().Set("Cache-Control", "public, max-age=86400")
	_, err := c.w.Write(page.Icon())
	return err
}

// login lets a browser ask for a password, and goes on where the user was.
func (c service) login() error {
	if c.who.users == nil {
		return errMethod
	}
	if c.user == "" {
		return errDenied
	}
	c.redirect(c.localTarget(c.r.URL.Query().Get("to")))
	return nil
}

// localTarget returns a path on this server, whatever a client says. It is no URL of another one,
// such as //example.com or /\example.com.
func (c *call) localTarget(to string) string {
	u, err := parseLocal(to)
	if err != nil || !covers(c.s.base, strings.TrimSuffix(u.Path, "/")) {
		return c.s.base + "/"
	}
	return to
}

// writeMetrics sends the counts to those who may read the root.
func (c service) writeMetrics() error {
	if err := c.access().check("/", rightRead); err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	c.w.Header().Set("Cache-Control", "no-store")
	return c.s.metrics.write(c.w)
}
