package page

import (
	"html"
	"html/template"
	"net/url"
	"strings"
)

// A rowWriter writes the rows of a listing. A template would take ten times as long, and a
// directory has many rows. Each text goes through html.EscapeString, in an element or between
// quotation marks.
type rowWriter struct {
	strings.Builder
	menu bool // rows have a menu
	pick bool // rows have a checkbox
}

// longName is a name that small screens show in small letters.
const longName = 80

// rows returns the body of the table.
func (l *listing) rows(shown []Entry) template.HTML {
	w := rowWriter{menu: l.Writable || l.Share || l.Versions, pick: l.Selectable()}
	w.Grow(1400 * len(shown))
	for i := range shown {
		w.row(&shown[i], l.row(&shown[i]))
	}
	return template.HTML(w.String())
}

// put writes parts, of which every second one is escaped: markup, text, markup, ...
func (w *rowWriter) put(parts ...string) {
	for i, s := range parts {
		if i%2 == 1 {
			s = html.EscapeString(s)
		}
		w.WriteString(s)
	}
}

func (w *rowWriter) row(e *Entry, r row) {
	name, size, date, iso := visible(e.Name), humanSize(e.Size), shortDate(e.ModTime), isoDate(e.ModTime)
	w.put(`<tr data-name="`, e.Name, `"`)
	if e.IsDir {
		w.put(` data-dir`)
	}
	if e.ETag != "" {
		w.put(` data-etag="`, e.ETag, `"`)
	}
	w.put(` data-href="`, r.Href, `">`+"\n")
	if w.pick {
		w.put(`<td class="pick"><input type="checkbox" name="name" value="`, url.PathEscape(e.Name), `" aria-label="Select `, name, `"></td>`)
	}
	w.put(`<td class="name">`)
	w.icon(r.Icon)
	if r.Open != "" {
		w.put(`<a href="`, r.Open, `"`)
		if len(name) > longName {
			w.put(` class="long"`)
		}
		w.put(`><bdi>`, name, `</bdi></a>`)
	} else {
		w.put(`<bdi>`, name, `</bdi>`)
	}
	if e.Link != "" {
		w.put(` <span class="to" title="A symbolic link">→ <bdi>`, visible(e.Link), `</bdi></span>`)
	}
	w.put(`<small>`)
	if !e.IsDir {
		w.put(``, size, `, `)
	}
	w.put(`<time datetime="`, iso, `">`, date, `</time></small></td>`+"\n"+`<td class="size">`)
	if !e.IsDir {
		w.put(`<span title="`, exactSize(e.Size), `">`, size, `</span>`)
	}
	w.put(`</td>`+"\n"+`<td class="time"><time datetime="`, iso, `">`, date, `</time></td>`+"\n"+`<td class="act">`)
	w.buttons(e, r, name)
	w.put("</td>\n</tr>\n")
}

// buttons writes the actions on a file.
func (w *rowWriter) buttons(e *Entry, r row, name string) {
	if r.Href != "" && !e.IsDir {
		w.put(`<a class="icon" href="`, r.Href, `?download" download rel="nofollow" aria-label="Download `, name, `" title="Download">`)
		w.icon("download")
		w.put(`</a>`)
	}
	if w.menu {
		w.put(`<button type="button" class="icon js" data-do="menu" aria-haspopup="menu" aria-expanded="false" aria-label="More for `, name, `" title="More">`)
		w.icon("more")
		w.put(`</button>`)
	}
}

func (w *rowWriter) icon(name string) {
	w.put(`<svg class="i `, name, `" aria-hidden="true"><use href="#i-`, name, `"/></svg>`)
}
