package page

import (
	"bytes"
	"encoding/json"
	"html/template"
	"io"
	"path"
	"strconv"
	"strings"
)

// MaxPreview is how many bytes of a text a page shows, and MaxLine by how many more the last line
// may go on. A longer text has several pages.
const (
	MaxPreview = 1 << 20
	MaxLine    = 64 << 10
)

// PartsOf returns how many pages a text of that size has. The last of them is never so short that
// the line before it could end it.
func PartsOf(size int64) int {
	return int(max(1, (size-MaxLine+MaxPreview-1)/MaxPreview))
}

// A File is the page of a file: FILE?view.
type File struct {
	Frame
	Entry
	Plain          bool   // Markdown is shown as its text: FILE?view=text
	Content        []byte // the part that is shown, if WantsContent; or nil
	Part           int    // of a text longer than MaxPreview, from 1; FILE?view&part=2
	End            bool   // the end of such a text: FILE?view&part=end
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
	Numbered bool       // lines have their numbers in the file
	Wrapped  bool       // there are lines that no screen is wide enough for
	Table    [][]string // of comma-separated values
	MoreRows bool       // the table has more rows
	Parts    int        // of a long text, or 0
	Before   string     // the URL of the file before it, or ""
	After    string
	Source   string // of a text that is laid out: the URL of the page with its text, or of that without
}

// PartHref returns the URL of a page of a long text, or "" if there is none.
func (p *preview) PartHref(part int) string {
	switch {
	case part < 1 || part > p.Parts || p.End && part == p.Parts:
		return ""
	case part == 1:
		return p.Raw + "?" + paramView
	}
	return p.Raw + "?" + paramView + "&part=" + strconv.Itoa(part)
}

// PartBefore returns the URL of the page before this one.
func (p *preview) PartBefore() string { return p.PartHref(p.Part - 1) }

// PartAfter returns the URL of the page after this one.
func (p *preview) PartAfter() string { return p.PartHref(p.Part + 1) }

// Title returns the text of the browser's tab.
func (p *preview) Title() string { return p.Frame.Title() }

// WriteFile writes the page of a file.
func (p *Pages) WriteFile(w io.Writer, f *File) error {
	v := &preview{File: f, Kind: kindOf(f.Name()), Raw: f.Root + escape(f.Path)}
	if v.Kind == kindUnknown || v.Kind == kindMarkdown {
		v.text()
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
	content := p.Content[:min(len(p.Content), MaxPreview+MaxLine)]
	if len(content) == 0 || kindOfContent(content) == kindBinary {
		p.Kind = kindBinary
		return
	}
	if int64(len(content)) < p.Size {
		p.Parts = PartsOf(p.Size)
	}
	p.Part = max(p.Part, 1)
	if p.Parts == 0 && p.lay(content) {
		return
	}
	p.Kind = kindText
	p.Numbered = p.Part == 1 && !p.End
	p.HTML, p.Language, p.Lines = highlight(p.Name(), trimRune(content), !p.Numbered)
	p.Wrapped = hasLongLine(content)
}

// lay lays out a text that is more than its lines, unless the reader wants those. It reports
// whether it has done so.
func (p *preview) lay(content []byte) bool {
	var laid func()
	switch ext := strings.ToLower(path.Ext(p.Name())); {
	case p.Kind == kindMarkdown:
		laid = func() {
			doc := markdown(content, p.Root, p.Dir())
			p.HTML, p.Contents = doc.HTML, doc.Sections
		}
	case ext == ".csv" || ext == ".tsv":
		rows, more := readTable(ext, content)
		if rows == nil {
			return false
		}
		laid = func() { p.Kind, p.Table, p.MoreRows = kindTable, rows, more }
	case ext == ".json":
		indented := indent(content)
		if indented == nil {
			return false
		}
		laid = func() {
			p.Kind = kindText
			p.HTML, p.Language, p.Lines = highlight(p.Name(), indented, true)
			p.Wrapped = true
		}
	default:
		return false
	}
	p.Source = p.Raw + "?" + paramView
	if p.Plain {
		return false
	}
	p.Source += "=text"
	laid()
	return true
}

// longLine is a line that is shown in several.
const longLine = 300

func hasLongLine(text []byte) bool {
	for line := range bytes.Lines(text) {
		if len(line) > longLine {
			return true
		}
	}
	return false
}

// indent returns JSON that is written without lines in several, and nil for any other text.
func indent(content []byte) []byte {
	text := bytes.TrimSpace(content)
	if len(text) > maxHighlight || bytes.IndexByte(text, '\n') >= 0 || len(text) < longLine/4 {
		return nil
	}
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil || b.Len() > 8*MaxPreview {
		return nil
	}
	return b.Bytes()
}
