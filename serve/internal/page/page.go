// Package page writes the pages of a volume in the browser: listings, previews, results of a
// search, earlier versions, errors. It makes HTML of its arguments, and knows neither volumes nor
// HTTP.
//
// All pages work without JavaScript for browsing, searching and downloading. Scripts, style sheets
// and pictures come from the same server, by [Assets]. The pages have no inline script and no
// inline style, so that [Policy] can forbid both. Text of users reaches a page by html/template, by
// html.EscapeString, or by a Markdown renderer that leaves raw HTML out.
//
// A directory has a URL that ends in a slash, and a file has one that does not. A file's own URL is
// its content. The page of a file is FILE?view, and FILE?download is the content as an attachment.
package page

import (
	"cmp"
	"embed"
	"html/template"
	"io"
	"net/url"
	"strings"
	"sync"
)

// Policy is the Content-Security-Policy of all pages. Script and style 'self' mean the assets: the
// server refuses to send contents of users to a page as scripts or styles.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; " +
	"connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Names of parameters of URLs.
const (
	paramView     = "view"
	paramDownload = "download"
	paramVersions = "versions"
	paramDiff     = "diff"
)

// A Frame says where a page is. Every page has one.
type Frame struct {
	Base     string // prefix of all URLs of the server, without a slash at its end: "", or for example "/files"
	Root     string // prefix of the URLs of the tree that is shown: Base, or the prefix of a snapshot or a share
	RootName string // the name of that tree
	Path     string // of the page's subject: unescaped, from Root, without slashes at its ends
	IsDir    bool   // the subject is a directory; Directory sets it itself
	Snapshot string // the snapshot that is shown, or "" for the volume as it is
	Live     string // the URL of the subject in the volume as it is, if a snapshot is shown
	User     string // the user who has logged in, or ""
	Login    string // the URL to log in at, or "" if there is no need
	Search   string // the URL of the search, or "" if there is none here
	Trash    string // the URL of the trash, or ""
	Links    string // the URL of the list of links to share, or ""
}

// A Crumb is a directory on the way from the root to the subject of a page.
type Crumb struct{ Name, Href string }

// Name returns the last element of the path, or the name of the tree.
func (f *Frame) Name() string {
	if f.Path == "" {
		return f.RootName
	}
	return f.Path[strings.LastIndexByte(f.Path, '/')+1:]
}

// Crumbs returns the directories above the subject, from the root. The root has itself.
func (f *Frame) Crumbs() []Crumb {
	list := []Crumb{{cmp.Or(f.RootName, "Start"), f.Root + "/"}}
	for i, c := range []byte(f.Path) {
		if c == '/' {
			dir := f.Path[:i]
			list = append(list, Crumb{dir[strings.LastIndexByte(dir, '/')+1:], f.Root + escape(dir) + "/"})
		}
	}
	return list
}

// Parent returns the URL of the directory above the subject, or "" at the root.
func (f *Frame) Parent() string {
	if f.Path == "" {
		return ""
	}
	list := f.Crumbs()
	return list[len(list)-1].Href
}

// Href returns the URL of the subject.
func (f *Frame) Href() string {
	href := f.Root + escape(f.Path)
	if f.IsDir && f.Path != "" || href == "" {
		href += "/"
	}
	return href
}

// Dir returns the path of the directory that a search from this page looks through.
func (f *Frame) Dir() string {
	if f.IsDir {
		return f.Path
	}
	return f.Path[:max(strings.LastIndexByte(f.Path, '/'), 0)]
}

// SearchName returns the name of that directory.
func (f *Frame) SearchName() string {
	dir := Frame{RootName: f.RootName, Path: f.Dir()}
	return dir.Name()
}

// SearchText returns the text in the field of the search.
func (f *Frame) SearchText() string { return "" }

// Title returns the text of the browser's tab.
func (f *Frame) Title() string {
	if f.Path == "" {
		return f.RootName
	}
	return f.Name() + " – " + f.RootName
}

// AssetsHref returns the URL of the directory of assets.
func (f *Frame) AssetsHref() string { return f.Base + "/-/assets/" + assetsHash() }

// escape returns a path as part of a URL, with a slash before each name. "" stays "".
func escape(path string) string {
	if path == "" {
		return ""
	}
	var b strings.Builder
	for name := range strings.SplitSeq(path, "/") {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(name))
	}
	return b.String()
}

// Pages writes pages. It can be used by any number of goroutines.
type Pages struct{ templates *template.Template }

//go:embed templates
var templateFiles embed.FS

// parsed holds the templates. They are parsed when they are first needed, as most calls of the
// command have no use for them.
var parsed = sync.OnceValue(func() *template.Template {
	t := template.New("").Funcs(template.FuncMap{
		"size": humanSize, "bytes": exactSize, "date": shortDate, "iso": isoDate, "visible": visible, "plural": plural[int], "query": url.QueryEscape,
	})
	return template.Must(t.ParseFS(templateFiles, "templates/*.html"))
})

// New returns a writer of pages.
func New() *Pages { return &Pages{parsed()} }

func (p *Pages) write(w io.Writer, name string, data any) error {
	return p.templates.ExecuteTemplate(w, name, data)
}
