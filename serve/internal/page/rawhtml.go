package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Raw HTML in Markdown is kept as far as it lays text out, as READMEs use it. It passes two steps:
// a rawFilter writes the tags of a list anew, with some attributes, and all else as text; and
// balance closes open tags, so that a tag has no effect on the page around the document.

// harmless are the tags that are kept. Each may have the attribute align.
var harmless = func() map[string]bool {
	set := make(map[string]bool)
	for name := range strings.FieldsSeq(`a abbr b blockquote br caption center cite code dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6
		hr i img ins kbd li mark ol p pre q rp rt ruby s samp small span strike strong sub summary sup table tbody td tfoot th thead tr tt u ul var wbr`) {
		set[name] = true
	}
	return set
}()

// aligns are the values of align.
var aligns = map[string]bool{"left": true, "right": true, "center": true, "middle": true, "top": true, "bottom": true, "justify": true}

// hiddenText are the elements whose content is no text for readers.
var hiddenText = map[string]bool{
	"script": true, "style": true, "title": true, "textarea": true, "iframe": true, "noembed": true, "noframes": true, "noscript": true, "xmp": true, "template": true,
}

// A rawFilter takes the harmless part from the raw HTML of a document, piece by piece.
type rawFilter struct {
	strings.Builder
	root, dir string // as for target
	inLink    int    // <a> that are open
	hidden    string // the element whose content is passed over, or ""
	kept      bool   // there were tags
}

// clean returns the harmless part of the next piece. linked says that the piece is in a link of
// Markdown.
func (f *rawFilter) clean(piece string, linked bool) string {
	f.Reset()
	for z := html.NewTokenizer(strings.NewReader(piece)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return f.String()
		case html.TextToken:
			if f.hidden == "" {
				f.WriteString(html.EscapeString(string(z.Text())))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			f.open(z.Token(), linked)
		case html.EndTagToken:
			f.close(z.Token().Data)
		}
	}
}

// open writes a start tag.
func (f *rawFilter) open(t html.Token, linked bool) {
	switch {
	case f.hidden != "":
		return
	case hiddenText[t.Data]:
		if t.Type == html.StartTagToken {
			f.hidden = t.Data
		}
		return
	case !harmless[t.Data]:
		return
	}
	values := make(map[string]string)
	for _, a := range t.Attr {
		if _, twice := values[a.Key]; !twice && a.Namespace == "" {
			values[a.Key] = a.Val
		}
	}
	f.kept = true
	linked = linked || f.inLink > 0
	switch t.Data {
	case "img":
		f.image(values, linked)
		return
	case "a":
		if linked || values["href"] == "" {
			return
		}
		f.inLink++
		f.tag("a", "href", string(target([]byte(values["href"]), f.root, f.dir, true)))
		return
	}
	f.tag(shifted(t.Data), "align", align(values))
}

// image writes a picture of the tree, and one of another host as a link.
func (f *rawFilter) image(values map[string]string, linked bool) {
	src, alt := values["src"], values["alt"]
	switch {
	case src == "":
	case !foreign([]byte(src)):
		f.tag("img", "src", string(target([]byte(src), f.root, f.dir, false)), "alt", alt, "align", align(values), "width", width(values))
	case linked:
		f.WriteString(html.EscapeString(alt))
	default:
		if alt == "" {
			alt = src
		}
		f.tag("a", "href", string(target([]byte(src), f.root, f.dir, false)))
		f.WriteString(html.EscapeString(alt) + "</a>")
	}
}

// tag writes a start tag with attributes, in pairs. It leaves out empty ones, except for alt.
func (f *rawFilter) tag(name string, attributes ...string) {
	f.WriteString("<" + name)
	for i := 0; i < len(attributes); i += 2 {
		if attributes[i+1] != "" || attributes[i] == "alt" {
			f.WriteString(" " + attributes[i] + `="` + html.EscapeString(attributes[i+1]) + `"`)
		}
	}
	f.WriteString(">")
}

// close writes an end tag.
func (f *rawFilter) close(name string) {
	switch {
	case f.hidden != "":
		if name == f.hidden {
			f.hidden = ""
		}
		return
	case !harmless[name] || name == "img" || name == "a" && f.inLink == 0:
		return
	case name == "a":
		f.inLink--
	}
	f.kept = true
	f.WriteString("</" + shifted(name) + ">")
}

func align(values map[string]string) string {
	if value := strings.ToLower(values["align"]); aligns[value] {
		return value
	}
	return ""
}

// width returns how wide a picture wants to be, in pixels or in hundredths of the column.
func width(values map[string]string) string {
	number := strings.TrimSuffix(strings.TrimSuffix(values["width"], "px"), "%")
	if n := len(number); n == 0 || n > 4 || digits(number) != n {
		return ""
	}
	return strings.TrimSuffix(values["width"], "px")
}

// shifted returns the tag of a heading one level below: the page's own heading is above it.
func shifted(name string) string {
	if len(name) == 2 && name[0] == 'h' && '1' <= name[1] && name[1] <= '5' {
		return "h" + string(name[1]+1)
	}
	return name
}

// balance closes the elements that are open at the end of a text, and leaves end tags out that
// close nothing. ok is false for a text that is nested too deeply.
func balance(text string) (balanced string, ok bool) {
	nodes, err := html.ParseFragment(strings.NewReader(text), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		return "", false
	}
	var b strings.Builder
	for _, n := range nodes {
		if err := html.Render(&b, n); err != nil {
			return "", false
		}
	}
	return b.String(), true
}
