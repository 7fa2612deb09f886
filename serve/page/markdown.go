package page

import (
	"bytes"
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
// told otherwise.
var renderedMarkdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.Strikethrough, extension.TaskList, extension.Linkify),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(codeRenderer{}, 100))),
	)
})

// markdown lays a text out. Its links and pictures lead to files next to it: dir is its directory,
// and root the prefix of the URLs of the tree. Pictures from other hosts become links.
func markdown(source []byte, root, dir string) template.HTML {
	if len(source) > maxMarkdown {
		lines, _, _ := highlight("", source)
		return `<pre class="code" tabindex="0">` + lines + `</pre>`
	}
	md := renderedMarkdown()
	doc := md.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(prefixedIDs{parser.NewContext().IDs()}))))
	relink(doc, source, root, dir)
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, source, doc); err != nil {
		return template.HTML(template.HTMLEscapeString(string(source)))
	}
	return template.HTML(tables.Replace(b.String()))
}

// tables lets a reader scroll a wide table by the keyboard, and has no heads without a text. Only
// goldmark itself writes such tags.
var tables = strings.NewReplacer("<table>", `<div class="table" tabindex="0" role="group" aria-label="A table"><table>`, "</table>", "</table></div>", "<th></th>", "<td></td>")

// prefixedIDs makes the identifiers of headings, which differ from all those of the page itself.
type prefixedIDs struct{ parser.IDs }

const headingPrefix = "h-"

// Generate returns an identifier for a heading.
func (p prefixedIDs) Generate(value []byte, kind ast.NodeKind) []byte {
	return append([]byte(headingPrefix), p.IDs.Generate(value, kind)...)
}

// relink makes the links of a document those of the pages that show their targets.
func relink(doc ast.Node, source []byte, root, dir string) {
	var foreign []*ast.Image
	var odd []*ast.AutoLink
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = target(n.Destination, root, dir, true)
		case *ast.AutoLink:
			if n.AutoLinkType == ast.AutoLinkURL && !safe(n.URL(source)) {
				odd = append(odd, n)
			}
		case *ast.Image:
			if u, err := url.Parse(string(n.Destination)); err != nil || u.Scheme != "" || u.Host != "" {
				foreign = append(foreign, n)
			} else {
				n.Destination = target(n.Destination, root, dir, false)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, n := range odd {
		n.Parent().ReplaceChild(n.Parent(), n, ast.NewString(n.Label(source)))
	}
	for _, n := range foreign {
		link := ast.NewLink()
		link.Destination = target(n.Destination, root, dir, false)
		for c := n.FirstChild(); c != nil; c = n.FirstChild() {
			link.AppendChild(link, c)
		}
		if link.ChildCount() == 0 {
			link.AppendChild(link, ast.NewString(n.Destination))
		}
		n.Parent().ReplaceChild(n.Parent(), n, link)
	}
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

// RegisterFuncs has the block with a language rendered here.
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

// A readme is what is shown below a listing.
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
	return readme{d.Readme.Name, markdown(d.Readme.Text, d.Root, d.Path)}
}
