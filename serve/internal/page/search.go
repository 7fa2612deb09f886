package page

import (
	"io"
	"strconv"
	"strings"
	"time"
)

// A Search is the page of results of a search: BASE/-/search.
type Search struct {
	Frame          // Path is the directory that is searched
	Query   string // or "": the page asks for one
	Content bool   // contents were searched, not names
}

// A Result is a file that a search has found, or a line of one.
type Result struct {
	Path    string // from the root of the tree
	IsDir   bool
	Size    int64
	ModTime time.Time
	Line    int    // from 1, if the content was searched
	Text    string // of that line
}

// An Outcome says how a search ended.
type Outcome struct {
	Found    int
	Searched int           // files that were looked at, or 0
	Took     time.Duration // or 0
	Limited  bool          // there are more results
	Error    string        // why it ended early: a sentence, or ""
}

// Results writes results one after the other. The caller should flush to make results visible.
type Results struct {
	pages  *Pages
	w      io.Writer
	search *Search
	last   string // the file whose lines are being written, or ""
	err    error  // the first of writing
}

// StartSearch writes the page as far as the results.
func (p *Pages) StartSearch(w io.Writer, s *Search) (*Results, error) {
	s.IsDir = true
	r := &Results{pages: p, w: w, search: s}
	r.write("search-top", s)
	return r, r.err
}

// Title returns the text of the browser's tab.
func (s *Search) Title() string {
	if s.Query == "" {
		return "Search – " + s.RootName
	}
	return s.Query + " – search"
}

// SearchText returns the text in the field of the search.
func (s *Search) SearchText() string { return s.Query }

// Seconds returns how long the search took, for people.
func (o Outcome) Seconds() string { return strconv.FormatFloat(o.Took.Seconds(), 'f', 2, 64) }

func (r *Results) write(name string, data any) {
	if r.err == nil {
		r.err = r.pages.write(r.w, name, data)
	}
}

// A hit is a Result as its template needs it.
type hit struct {
	*Result
	Name, Dir  string
	Href, Open string
	Icon       string
	Parts      []part
	First      bool // the first line of its file
}

// A part is a piece of a text, which may match the search.
type part struct {
	Text  string
	Found bool
}

// Add writes a result. Lines of one file must follow each other.
func (r *Results) Add(found Result) error {
	f := Frame{Path: found.Path}
	href := r.search.Root + escape(found.Path)
	h := hit{Result: &found, Name: f.Name(), Dir: f.Dir(), Href: href, Open: href + "?" + paramView, Icon: string(kindOf(f.Name()).icon())}
	if found.IsDir {
		h.Href, h.Open, h.Icon = href+"/", href+"/", "dir"
	}
	text := visible(h.Name)
	if found.Line > 0 {
		text = found.Text
		if kindOf(h.Name) == kindMarkdown {
			h.Open += "=text" // which has lines to link to
		}
		h.First = found.Path != r.last
		if h.First && r.last != "" {
			r.write("search-file-end", nil)
		}
		r.last = found.Path
	}
	h.Parts = parts(text, r.search.Query)
	if found.Line > 0 {
		r.write("search-line", h)
	} else {
		r.write("search-name", h)
	}
	return r.err
}

// End writes the rest of the page.
func (r *Results) End(o Outcome) error {
	if r.last != "" {
		r.write("search-file-end", nil)
	}
	r.write("search-bottom", struct {
		*Search
		Outcome
	}{r.search, o})
	return r.err
}

// maxLine is how many bytes of a line are shown.
const maxLine = 300

// parts cuts a text at the matches of a search, without regard to case. Of a long text it shows the
// part around the first find.
func parts(text, query string) []part {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	folded, query := strings.ToLower(text), strings.ToLower(query)
	if query == "" || len(folded) != len(text) {
		return []part{{shorten(text, 0), false}}
	}
	if at := strings.Index(folded, query); len(text) > maxLine {
		text = shorten(text, max(at-maxLine/4, 0))
		folded = strings.ToLower(text)
		if len(folded) != len(text) {
			return []part{{text, false}}
		}
	}
	var list []part
	for from := 0; from < len(text); {
		at := strings.Index(folded[from:], query)
		if at < 0 {
			return append(list, part{text[from:], false})
		}
		if at > 0 {
			list = append(list, part{text[from : from+at], false})
		}
		list = append(list, part{text[from+at : from+at+len(query)], true})
		from += at + len(query)
	}
	return list
}

// shorten returns maxLine bytes of a text at most, with signs where it was cut.
func shorten(text string, from int) string {
	if len(text) <= maxLine {
		return text
	}
	cut := strings.ToValidUTF8(text[from:min(from+maxLine, len(text))], "")
	if from > 0 {
		cut = "…" + cut
	}
	if from+maxLine < len(text) {
		cut += "…"
	}
	return cut
}
