package page

import (
	"html/template"
	"io"
)

// MaxPreview is how many bytes of a text a page shows. A longer text is shown up to there.
const MaxPreview = 1 << 20

// A File is the page of a file: FILE?view.
type File struct {
	Frame
	Entry
	Plain          bool   // Markdown is shown as its text: FILE?view=text
	Content        []byte // the first MaxPreview bytes at most, if WantsContent; or nil
	Writable       bool
	Share          bool   // links to share can be made
	Versions       bool   // earlier versions can be seen
	Previous, Next string // names of the files before and after it in the directory, or ""
}

// WantsContent reports whether the page of a file needs its content. The browser loads pictures,
// sound and films itself, and archives are not opened.
func WantsContent(name string, size int64) bool {
	switch kindOf(name) {
	case kindImage:
		return false
	case kindUnknown, kindText, kindMarkdown:
		return size > 0
	}
	return false
}

// A preview is a File as its template needs it.
type preview struct {
	*File
	Kind     kind
	Raw      string // the URL of the content
	HTML     template.HTML
	Contents []section // of Markdown
	Language string    // of a text that is highlighted, or ""
	Lines    int
	Cut      bool   // the text is longer than what is shown
	Before   string // the URL of the file before it, or ""
	After    string
	Source   string // of Markdown: the URL of the page with its text, or of that without
}

// Title returns the text of the browser's tab.
func (p *preview) Title() string { return p.Frame.Title() }

// WriteFile writes the page of a file.
func (p *Pages) WriteFile(w io.Writer, f *File) error {
	v := &preview{File: f, Kind: kindOf(f.Name()), Raw: f.Root + escape(f.Path)}
	if v.Kind == kindUnknown || v.Kind == kindMarkdown {
		v.text()
	}
	if kindOf(f.Name()) == kindMarkdown && v.Kind != kindBinary {
		v.Source = v.Raw + "?" + paramView
		if !f.Plain {
			v.Source += "=text"
		}
	}
	v.Before, v.After = f.sibling(f.Previous), f.sibling(f.Next)
	return p.write(w, "file.html", v)
}

// Name returns the name of the file.
func (f *File) Name() string { return f.Frame.Name() }

// sibling returns the URL of the page of a file in the same directory.
func (f *File) sibling(name string) string {
	if name == "" {
		return ""
	}
	dir := Frame{Path: f.Dir()}
	return f.Root + escape(dir.join(name)) + "?" + paramView
}

// text shows the content, if it is text.
func (p *preview) text() {
	content := p.Content[:min(len(p.Content), MaxPreview)]
	p.Cut = int64(len(content)) < p.Size
	switch {
	case len(content) == 0 || kindOfContent(content) == kindBinary:
		p.Kind = kindBinary
	case p.Kind == kindMarkdown && !p.Plain:
		doc := markdown(content, p.Root, p.Dir())
		p.HTML, p.Contents = doc.HTML, doc.Sections
	default:
		p.Kind = kindText
		p.HTML, p.Language, p.Lines = highlight(p.Name(), trimRune(content))
	}
}
