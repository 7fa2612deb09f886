package serve

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/foliofs/folio/serve/internal/page"
)

// wantsPage reports whether the answer is for a reader in a browser, and not for a script.
func (c *call) wantsPage() bool { return strings.Contains(c.r.Header.Get("Accept"), "text/html") }

// confirm answers a form of a page with a question, if it is about something that cannot be undone
// and the reader was not asked. The form comes again with the field sure. Scripts of pages ask by
// themselves, and programs name the change.
func (c *call) confirm(q *page.Question) (asked bool, err error) {
	if c.r.Method != http.MethodPost || !c.wantsPage() {
		return false, nil
	}
	if c.r.PostForm == nil {
		c.r.Body = http.MaxBytesReader(c.w, c.r.Body, maxShareBody)
		if err := c.r.ParseForm(); err != nil {
			return true, errForm
		}
	}
	if c.r.PostForm.Get("sure") == "1" {
		return false, nil
	}
	q.Frame, q.Fields = c.frame(&place{root: c.s.base, name: "."}), url.Values(c.r.PostForm)
	c.w.Header().Set("Cache-Control", "no-store")
	c.startPage(http.StatusOK)
	return true, c.s.pages.WriteQuestion(c.w, q)
}

// done answers a form with another page, and a script with nothing.
func (c *change) done(to string) {
	if c.wantsPage() {
		c.redirect(to)
		return
	}
	c.created(false)
}
