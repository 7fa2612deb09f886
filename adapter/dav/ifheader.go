package dav

import (
	"errors"
	"net/http"
	"strings"
)

// The If header (RFC 4918, section 10.4). It holds if one of its lists does, and a list does if all
// of its conditions do.

var errIfHeader = errors.New("the If header is none that RFC 4918 knows, such as (<TOKEN> [\"ETAG\"])")

// An ifList is a list of conditions about one file.
type ifList struct {
	tag        string // a URL, or the path of one; "" is the URL of the request
	conditions []condition
}

// A condition requires a lock with a token, or a content with a tag.
type condition struct {
	not         bool
	token, etag string // one of them is ""
}

// parseIf reads an If header. There are no lists in an empty one.
func parseIf(header string) (lists []ifList, err error) {
	p := ifParser{rest: header}
	for tag := ""; ; {
		switch {
		case p.skip("("):
			conditions, ok := p.conditions()
			if !ok {
				return nil, refuse(errIfHeader, http.StatusBadRequest)
			}
			lists = append(lists, ifList{tag, conditions})
		case p.skip("<"):
			var ok bool
			if tag, ok = p.until(">"); !ok || tag == "" || !p.at("(") {
				return nil, refuse(errIfHeader, http.StatusBadRequest)
			}
		case p.rest == "":
			return lists, nil
		default:
			return nil, refuse(errIfHeader, http.StatusBadRequest)
		}
	}
}

// An ifParser reads an If header.
type ifParser struct{ rest string }

// at reports whether a text comes next, after blanks.
func (p *ifParser) at(text string) bool {
	p.rest = strings.TrimLeft(p.rest, " \t")
	return strings.HasPrefix(p.rest, text)
}

// skip passes a text that comes next.
func (p *ifParser) skip(text string) bool {
	ok := p.at(text)
	if ok {
		p.rest = p.rest[len(text):]
	}
	return ok
}

// until returns the part before a text, and passes both.
func (p *ifParser) until(end string) (text string, ok bool) {
	text, p.rest, ok = strings.Cut(p.rest, end)
	return text, ok
}

// conditions reads the conditions of a list, and its end.
func (p *ifParser) conditions() (list []condition, ok bool) {
	for !p.skip(")") {
		c := condition{}
		if p.at("Not") || p.at("not") || p.at("NOT") {
			c.not, p.rest = true, p.rest[len("Not"):]
		}
		switch {
		case p.skip("<"):
			c.token, ok = p.until(">")
		case p.skip("["):
			c.etag, ok = p.until("]")
			c.etag = strings.TrimSpace(c.etag)
		default:
			return nil, false
		}
		if !ok || c.token == "" && c.etag == "" {
			return nil, false
		}
		list = append(list, c)
	}
	return list, len(list) > 0
}
