package page

import (
	"cmp"
	"html/template"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// perPage is how many entries one page of a listing shows: so many that few directories need a
// second page, and so few that a phone shows them at once.
const perPage = 1000

// A Directory is the listing of a directory. Its writer sorts the entries and cuts them into pages.
type Directory struct {
	Frame
	Entries    []Entry
	Order      Order
	Writable   bool
	Uploadable bool       // files can be uploaded, and nothing else: entries are not shown
	Tus        string     // the URL of the server of tus that takes uploads, or ""
	Forever    bool       // removed files cannot be restored
	Share      bool       // links to share can be made
	Versions   bool       // earlier versions can be seen
	Zip, Tar   string     // URLs of archives of all of it, or ""
	Snapshots  []Snapshot // of the volume, newest first
	MaxUpload  int64      // bytes of the largest file that may be uploaded, or 0
	Readme     *Readme    // shown below the listing, or nil
	Undo       string     // the URL that restores the file just removed, or ""
}

// An Entry is a file in a directory.
type Entry struct {
	Name    string
	IsDir   bool // it can be entered: a directory, or a symbolic link to one
	Size    int64
	ModTime time.Time
	Mode    fs.FileMode
	Link    string // the target of a symbolic link
	ETag    string // of its content, as HTTP has it, or ""
}

// special reports whether an entry has no content: a pipe, a socket or a device.
func (e *Entry) special() bool {
	return e.Mode&(fs.ModeDevice|fs.ModeNamedPipe|fs.ModeSocket|fs.ModeIrregular) != 0
}

// A Snapshot is a named state of the volume.
type Snapshot struct {
	Name string
	Time time.Time
	Href string // of the same directory in it
}

// A Readme is a short Markdown or text file.
type Readme struct {
	Name string
	Text []byte
}

// An Order says how a listing is sorted, and which part of it is shown.
type Order struct {
	By         string // "name", "size" or "time"
	Descending bool
	Page       int    // from 1
	Match      string // only names with all of these words are shown; "" shows all
}

// ParseOrder reads the order from a URL's query. Anything else is the default: by name.
func ParseOrder(query url.Values) Order {
	o := Order{By: query.Get("sort"), Descending: query.Get("desc") == "1"}
	if o.By != "size" && o.By != "time" {
		o.By = "name"
	}
	o.Page, _ = strconv.Atoi(query.Get("page"))
	o.Page, o.Match = max(o.Page, 1), query.Get("match")
	return o
}

// href returns the query that asks for an order.
func (o Order) href() string {
	values := url.Values{}
	if o.By != "name" {
		values.Set("sort", o.By)
	}
	if o.Descending {
		values.Set("desc", "1")
	}
	if o.Page > 1 {
		values.Set("page", strconv.Itoa(o.Page))
	}
	if o.Match != "" {
		values.Set("match", o.Match)
	}
	if len(values) == 0 {
		return "./"
	}
	return "./?" + values.Encode()
}

// compare orders two entries: directories first, then by the order's key, then by name.
func (o Order) compare(a, b *Entry) int {
	if a.IsDir != b.IsDir {
		if a.IsDir {
			return -1
		}
		return 1
	}
	c := 0
	switch o.By {
	case "size":
		c = cmp.Compare(a.Size, b.Size)
	case "time":
		c = a.ModTime.Compare(b.ModTime)
	}
	if c == 0 {
		c = compareNames(a.Name, b.Name)
	}
	if o.Descending {
		return -c
	}
	return c
}

// compareNames orders names as people do: without regard to case, and numbers by their value.
func compareNames(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		n, m := digits(x), digits(y)
		if n > 0 && m > 0 {
			if c := compareNumbers(x[:n], y[:m]); c != 0 {
				return c
			}
			x, y = x[n:], y[m:]
			continue
		}
		if c := cmp.Compare(lower(x[0]), lower(y[0])); c != 0 {
			return c
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// digits returns how many digits a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// A listing is a Directory as its template needs it.
type listing struct {
	*Directory
	Rows           template.HTML
	Columns        []column
	Dirs, Files    int
	Bytes          int64
	Page, Pages    int
	Total          int // of entries, also if they do not match
	Previous, Next string
	ReadmeHTML     readme
}

// SearchText returns the text in the field of the search, which filters a listing.
func (l *listing) SearchText() string { return l.Order.Match }

// Partial reports whether there are entries that the page does not show.
func (l *listing) Partial() bool { return l.Order.Match != "" || l.Pages > 1 }

// Matched returns how many entries match.
func (l *listing) Matched() int { return len(l.Entries) }

// Selectable reports whether rows have checkboxes.
func (d *Directory) Selectable() bool { return d.Zip != "" || d.Writable }

// A row says where an entry leads.
type row struct {
	Href, Open string // its URL, and the URL of its page
	Icon       string
}

// A column is the head of a column.
type column struct {
	Title, Class, Href, State string // State is a value of aria-sort
}

// WriteDirectory writes a listing. It sorts d.Entries, and takes those out that do not match.
func (p *Pages) WriteDirectory(w io.Writer, d *Directory) error {
	d.IsDir = true
	l := &listing{Directory: d, Columns: d.Order.columns(), ReadmeHTML: p.readme(d), Total: len(d.Entries)}
	for i := range d.Entries {
		if d.Entries[i].IsDir {
			l.Dirs++
		} else {
			l.Files++
			l.Bytes += d.Entries[i].Size
		}
	}
	d.Entries = slices.DeleteFunc(d.Entries, func(e Entry) bool { return !Matches(e.Name, d.Order.Match) })
	slices.SortFunc(d.Entries, func(a, b Entry) int { return d.Order.compare(&a, &b) })
	l.cut()
	return p.write(w, "directory.html", l)
}

// cut takes the rows of the page that is asked for.
func (l *listing) cut() {
	l.Pages = max((len(l.Entries)+perPage-1)/perPage, 1)
	l.Page = min(max(l.Order.Page, 1), l.Pages)
	turn := func(page int) string {
		o := l.Order
		o.Page = page
		return o.href()
	}
	if l.Page > 1 {
		l.Previous = turn(l.Page - 1)
	}
	if l.Page < l.Pages {
		l.Next = turn(l.Page + 1)
	}
	shown := l.Entries[(l.Page-1)*perPage : min(l.Page*perPage, len(l.Entries))]
	l.Rows = l.rows(shown)
}

func (l *listing) row(e *Entry) row {
	href := l.Root + escape(l.join(e.Name))
	switch {
	case e.IsDir:
		return row{href + "/", href + "/", "dir"}
	case e.special():
		return row{"", "", "other"}
	}
	return row{href, href + "?" + paramView, string(kindOf(e.Name).icon())}
}

// join returns the path of a name in the directory.
func (f *Frame) join(name string) string {
	if f.Path == "" {
		return name
	}
	return f.Path + "/" + name
}

// columns returns the heads: each asks for its order, or for the reverse if it is the order.
func (o Order) columns() []column {
	list := []column{{Title: "Name", Class: "name"}, {Title: "Size", Class: "size"}, {Title: "Changed", Class: "time"}}
	for i, by := range []string{"name", "size", "time"} {
		next := Order{By: by, Descending: by != "name", Match: o.Match}
		if o.By == by {
			next.Descending = !o.Descending
			list[i].State = "ascending"
			if o.Descending {
				list[i].State = "descending"
			}
		}
		list[i].Href = next.href()
	}
	return list
}
