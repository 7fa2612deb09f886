package page

import (
	"bytes"
	"html"
	"html/template"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxMarkdown is the longest Markdown that is laid out. A longer one is shown as its text.
const maxMarkdown = 256 << 10

// maxReadme is the longest README that is shown below a listing.
const maxReadme = 64 << 10

// renderedMarkdown leaves raw HTML out, and links that are scripts: goldmark does so unless it is
// told otherwise. The harmless part of raw HTML is put into the document before.
var renderedMarkdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.Strikethrough, extension.TaskList, extension.Linkify, extension.NewFootnote(extension.WithFootnoteIDPrefix(headingPrefix))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(codeRenderer{}, 100))),
	)
})

// A layout is a document of Markdown as a page shows it.
type layout struct {
	HTML     template.HTML
	Sections []section
}

// A section is a heading of a document that a list of contents names.
type section struct {
	ID, Text string
	Level    int // from 1
}

// markdown lays a text out. Its links and pictures lead to files next to it: dir is its directory,
// and root the prefix of the URLs of the tree. Pictures from other hosts become links.
func markdown(source []byte, root, dir string) layout {
	if len(source) > maxMarkdown {
		return plainLayout(source)
	}
	md := renderedMarkdown()
	doc := md.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(prefixedIDs{parser.NewContext().IDs()}))))
	r := &relinker{source: source, root: root, dir: dir, raw: rawFilter{root: root, dir: dir}}
	r.relink(doc)
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, source, doc); err != nil {
		return plainLayout(source)
	}
	out := b.String()
	if r.raw.kept {
		var ok bool
		if out, ok = balance(out); !ok {
			return plainLayout(source)
		}
	}
	return layout{template.HTML(tables.Replace(out)), r.sections}
}

// plainLayout shows a document as its text.
func plainLayout(source []byte) layout {
	lines, _, _ := highlight("", source, true)
	return layout{HTML: `<pre class="code" tabindex="0">` + lines + `</pre>`}
}

// tables lets a reader scroll a wide table by the keyboard, and has no heads without a text. The
// tags are balanced, however the document was written.
var tables = strings.NewReplacer("<table>", `<div class="table" tabindex="0" role="group" aria-label="A table"><table>`, "</table>", "</table></div>", "<th></th>", "<td></td>")

// prefixedIDs makes the identifiers of headings, which differ from all identifiers of the page
// itself.
type prefixedIDs struct{ parser.IDs }

const headingPrefix = "h-"

// Generate returns an identifier for a heading.
func (p prefixedIDs) Generate(value []byte, kind ast.NodeKind) []byte {
	return append([]byte(headingPrefix), p.IDs.Generate(value, kind)...)
}

// A relinker goes through a document before it is written.
type relinker struct {
	source    []byte
	root, dir string
	raw       rawFilter
	sections  []section
	edits     []func() // of the tree, once the walk is over
}

// relink lets the links of a document lead to the pages that show their targets. It replaces raw
// HTML by its harmless part, lowers headings by a level, and finds alerts.
func (r *relinker) relink(doc ast.Node) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if entering {
			r.visit(n)
		}
		return ast.WalkContinue, nil
	})
	for _, edit := range r.edits {
		edit()
	}
}

func (r *relinker) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.Link:
		n.Destination = target(n.Destination, r.root, r.dir, true)
	case *ast.AutoLink:
		if n.AutoLinkType == ast.AutoLinkURL && !safe(n.URL(r.source)) {
			r.replace(n, ast.NewString(n.Label(r.source)))
		}
	case *ast.Image:
		r.image(n)
	case *ast.Heading:
		r.heading(n)
	case *ast.Blockquote:
		r.alert(n)
	case *ast.RawHTML:
		r.replace(n, r.clean(n, n.Segments))
	case *ast.HTMLBlock:
		block := ast.NewTextBlock()
		lines := text.NewSegments()
		lines.AppendAll(n.Lines().Sliced(0, n.Lines().Len()))
		if n.HasClosure() {
			lines.Append(n.ClosureLine)
		}
		block.AppendChild(block, r.clean(n, lines))
		r.replace(n, block)
	}
}

// replace puts another node in the place of one.
func (r *relinker) replace(n, other ast.Node) {
	r.edits = append(r.edits, func() { n.Parent().ReplaceChild(n.Parent(), n, other) })
}

// clean returns the harmless part of a piece of raw HTML. In the text of a picture, which becomes
// an attribute, nothing is.
func (r *relinker) clean(n ast.Node, lines *text.Segments) ast.Node {
	if in(n, ast.KindImage) {
		return ast.NewString(nil)
	}
	s := ast.NewString([]byte(r.raw.clean(string(lines.Value(r.source)), in(n, ast.KindLink))))
	s.SetCode(true) // it is written as it is
	return s
}

// in reports whether a node is in one of a kind.
func in(n ast.Node, kind ast.NodeKind) bool {
	for p := n.Parent(); p != nil; p = p.Parent() {
		if p.Kind() == kind {
			return true
		}
	}
	return false
}

// image makes the source of a picture a URL of the tree. A picture from another host becomes a
// link, and in a link its text.
func (r *relinker) image(n *ast.Image) {
	if !foreign(n.Destination) {
		n.Destination = target(n.Destination, r.root, r.dir, false)
		return
	}
	r.edits = append(r.edits, func() {
		link := ast.NewLink()
		link.Destination = target(n.Destination, r.root, r.dir, false)
		for c := n.FirstChild(); c != nil; c = n.FirstChild() {
			link.AppendChild(link, c)
		}
		if link.ChildCount() == 0 {
			link.AppendChild(link, ast.NewString(n.Destination))
		}
		if !in(n, ast.KindLink) {
			n.Parent().ReplaceChild(n.Parent(), n, link)
			return
		}
		for c := link.FirstChild(); c != nil; c = link.FirstChild() {
			n.Parent().InsertBefore(n.Parent(), n, c)
		}
		n.Parent().RemoveChild(n.Parent(), n)
	})
}

// foreign reports whether a picture is one of another host.
func foreign(destination []byte) bool {
	u, err := url.Parse(string(destination))
	return err != nil || u.Scheme != "" || u.Host != ""
}

// heading lowers a heading by a level, as the page has one of its own, and notes it.
func (r *relinker) heading(n *ast.Heading) {
	if id, ok := n.AttributeString("id"); ok {
		if id, ok := id.([]byte); ok {
			r.sections = append(r.sections, section{ID: string(id), Text: plainText(n, r.source), Level: n.Level})
		}
	}
	n.Level = min(n.Level+1, 6)
}

// plainText returns the text of a node without its markup.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return html.UnescapeString(b.String())
}

// alertTitles are the words of alerts, as GitHub writes them: a quotation that begins with the line
// [!NOTE].
var alertTitles = map[string]string{"note": "Note", "tip": "Tip", "important": "Important", "warning": "Warning", "caution": "Caution"}

// alert makes a quotation that is an alert look so.
func (r *relinker) alert(n *ast.Blockquote) {
	p, ok := n.FirstChild().(*ast.Paragraph)
	if !ok || p.Lines().Len() == 0 {
		return
	}
	line := p.Lines().At(0)
	name, ok := strings.CutPrefix(strings.TrimSpace(string(line.Value(r.source))), "[!")
	name, closed := strings.CutSuffix(strings.ToLower(name), "]")
	title := alertTitles[name]
	if !ok || !closed || title == "" {
		return
	}
	r.edits = append(r.edits, func() {
		n.SetAttributeString("class", []byte("alert "+name))
		for c := p.FirstChild(); c != nil; c = p.FirstChild() {
			if t, ok := c.(*ast.Text); !ok || t.Segment.Start >= line.Stop {
				break
			}
			p.RemoveChild(p, c)
		}
		head := ast.NewParagraph()
		head.SetAttributeString("class", []byte("title"))
		head.AppendChild(head, ast.NewString([]byte(title)))
		n.InsertBefore(n, p, head)
		if p.ChildCount() == 0 {
			n.RemoveChild(n, p)
		}
	})
}

// target returns the URL for a link in a document of the directory. Links to other hosts and to
// headings stay; a link to a file becomes one to its page.
func target(destination []byte, root, dir string, view bool) []byte {
	u, err := url.Parse(string(destination))
	switch {
	case err != nil || !safe(destination) || strings.HasPrefix(u.Path, "//"):
		return []byte("#")
	case u.Scheme != "" || u.Host != "":
		return destination
	}
	if u.Path == "" {
		return anchor(u, headingPrefix)
	}
	name := strings.TrimPrefix(path.Join("/", dir, u.Path), "/")
	if strings.HasPrefix(u.Path, "/") {
		name = strings.TrimPrefix(path.Clean(u.Path), "/")
	}
	href := root + escape(name)
	switch {
	case strings.HasSuffix(u.Path, "/") || name == "":
		href += "/"
	case view:
		href += "?" + paramView
	}
	if kindOf(name) == kindMarkdown {
		return append([]byte(href), anchor(u, headingPrefix)...)
	}
	return append([]byte(href), anchor(u, "")...)
}

// safe reports whether a link leads to a file of this server, to a site, or to a mailbox. Other
// schemes start programs.
func safe(destination []byte) bool {
	u, err := url.Parse(string(destination))
	return err == nil && slices.Contains([]string{"", "http", "https", "mailto", "ftp"}, u.Scheme)
}

// anchor returns the part of a link that names a line, or a heading: their identifiers have a
// prefix.
func anchor(u *url.URL, prefix string) []byte {
	if u.Fragment == "" {
		return nil
	}
	return []byte("#" + prefix + url.PathEscape(u.Fragment))
}

// A codeRenderer highlights blocks of code.
type codeRenderer struct{}

// RegisterFuncs lets a block with a language be rendered here.
func (codeRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, renderCode)
}

func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.FencedCodeBlock)
	var code strings.Builder
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		code.Write(line.Value(source))
	}
	var l lineWriter
	l.bare = true
	rest := code.String()
	if lexer := lexers().Get(string(block.Language(source))); lexer != nil {
		rest = l.tokens(lexer, rest)
	}
	l.write("", rest)
	_, _ = w.WriteString(`<pre class="code" tabindex="0"><code>` + l.end() + "</code></pre>\n") // into a buffer
	return ast.WalkSkipChildren, nil
}

// A readme is the document shown below a listing.
type readme struct {
	Name string
	HTML template.HTML
}

// IsReadme reports whether a file is shown below the listing of its directory, as Directory.Readme.
func IsReadme(name string, size int64) bool {
	return strings.EqualFold(name, "README.md") && size > 0 && size <= maxReadme
}

// readme lays out the README of a directory.
func (p *Pages) readme(d *Directory) readme {
	if d.Readme == nil || !IsReadme(d.Readme.Name, int64(len(d.Readme.Text))) {
		return readme{}
	}
	return readme{d.Readme.Name, markdown(d.Readme.Text, d.Root, d.Path).HTML}
}
