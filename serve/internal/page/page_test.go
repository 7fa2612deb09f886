package page

import (
	"html"
	"io/fs"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// evil is a text that would leave each kind of place in HTML if it were not escaped.
const evil = `"'><evil onload=alert(1)>&lt;` + "`${x}" + `javascript:alert(1)`

// noon is a time for tests.
var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// hostile is a frame in which all texts are evil.
func hostile() Frame {
	return Frame{
		Base: "/base", Root: "/base/vol", RootName: evil, Path: "dir/" + evil, Snapshot: evil, Live: "/base/" + url.PathEscape(evil),
		User: evil, Login: "/base/-/login", Search: "/base/-/search",
	}
}

// every returns each kind of page with evil texts in every place.
func every(t *testing.T) map[string]string {
	t.Helper()
	p := New()
	pages := make(map[string]string)
	write := func(name string, fn func(w *strings.Builder) error) {
		var b strings.Builder
		if err := fn(&b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		pages[name] = b.String()
	}
	entry := Entry{Name: evil, Size: 1234567, ModTime: noon, Link: evil, ETag: evil}
	write("directory", func(w *strings.Builder) error {
		return p.WriteDirectory(w, &Directory{
			Frame: hostile(), Entries: []Entry{entry, {Name: evil, IsDir: true}, {Name: evil, Mode: fs.ModeSocket}}, Writable: true, Tus: "/base/-/tus/", Share: true, Versions: true,
			Zip: "/base/a.zip", Tar: "/base/a.tar", Snapshots: []Snapshot{{evil, noon, "/base/x"}}, Readme: &Readme{"README.md", []byte(hostileMarkdown)},
		})
	})
	write("empty", func(w *strings.Builder) error {
		return p.WriteDirectory(w, &Directory{Frame: hostile(), Writable: true})
	})
	write("drop", func(w *strings.Builder) error {
		return p.WriteDirectory(w, &Directory{Frame: hostile(), Uploadable: true, Tus: "/base/-/tus/"})
	})
	for _, extension := range []string{"", ".go", ".md", ".png", ".mp3", ".mp4", ".pdf", ".zip", ".html", ".diff", ".sh"} {
		write("file"+extension, func(w *strings.Builder) error {
			f := &File{Frame: hostile(), Entry: entry, Content: []byte(hostileMarkdown), Writable: true, Share: true, Versions: true, Previous: evil, Next: evil}
			f.Path += extension
			return p.WriteFile(w, f)
		})
	}
	write("search", func(w *strings.Builder) error {
		r, err := p.StartSearch(w, &Search{Frame: hostile(), Query: evil, Content: true})
		for _, found := range []Result{{Path: "a/" + evil}, {Path: evil, IsDir: true}, {Path: evil, Line: 1, Text: "x" + evil}, {Path: "b" + evil, Line: 2, Text: evil}} {
			if err == nil {
				err = r.Add(found)
			}
		}
		if err != nil {
			return err
		}
		return r.End(Outcome{Found: 4, Searched: 9, Took: time.Second, Error: evil})
	})
	write("versions", func(w *strings.Builder) error {
		return p.WriteVersions(w, &Versions{Frame: hostile(), Writable: true, List: []Version{{Snapshots: []string{evil, evil}, Time: noon, Href: "/base/x"}, {Gone: true}}})
	})
	write("difference", func(w *strings.Builder) error {
		return p.WriteDifference(w, &Difference{Frame: hostile(), From: evil, To: evil, Old: []byte("a\n" + evil), New: []byte(evil + "\nb\n")})
	})
	write("changes", func(w *strings.Builder) error {
		d := &Difference{Frame: hostile(), From: evil, Writable: true, Changes: []Changed{{"moved", evil, evil}, {"removed", evil, ""}}}
		d.IsDir = true
		return p.WriteDifference(w, d)
	})
	write("links", func(w *strings.Builder) error {
		l := Link{Path: evil, Href: "/base/x", End: "/base/-/links/x", User: evil, Snapshot: evil, Made: noon, Expires: noon, MaxSize: 9, Used: 5}
		return p.WriteLinks(w, &Links{Frame: hostile(), List: []Link{l, {Path: evil, End: "/base/x", State: "open", Upload: true}, {State: "gone"}, {State: "expired"}}})
	})
	write("trash", func(w *strings.Builder) error {
		r := Removed{Paths: []string{"a/" + evil, evil}, Count: 9, User: evil, Time: noon, Restore: "/base/-/undo/x"}
		return p.WriteTrash(w, &Trash{Frame: hostile(), Kept: time.Hour, Older: "/base/x", List: []Removed{r, {Paths: []string{evil}, IsDir: true}}})
	})
	write("question", func(w *strings.Builder) error {
		q := &Question{Frame: hostile(), Heading: evil, Text: evil, Action: "/base/-/remove", Button: evil, Back: "/base/x", Fields: url.Values{evil: {evil, evil}}}
		q.Items = slices.Repeat([]string{evil}, 30)
		return p.WriteQuestion(w, q)
	})
	write("error", func(w *strings.Builder) error {
		return p.WriteError(w, &Error{Frame: hostile(), Status: 404, Message: evil, Near: "/base/x/", NearName: evil})
	})
	return pages
}

const hostileMarkdown = "# <evil>\n\n<evil onload=alert(1)>x</evil>\n\n<script>alert(1)</script>\n\n[a](javascript:alert(1)) ![b](https://example.com/evil.png) " +
	"[c](<\"><evil>>) <javascript:alert(1)>\n\n```go\n</code><evil>\n```\n\n```\n</code><evil>\n```\n\n" + evil + "\n"

var (
	tag       = regexp.MustCompile(`<([a-zA-Z]+)((?:\s+[-a-zA-Z:]+(?:="[^"<>]*")?)*)\s*/?>`)
	attribute = regexp.MustCompile(`\s([-a-zA-Z:]+)(?:="([^"]*)")?`)
	comment   = regexp.MustCompile(`<!--[-a-zA-Z ]*-->|</[a-zA-Z0-9]+>|<!doctype html>`)
)

// TestEscapes wants no element, no handler and no URL of a user in any page.
func TestEscapes(t *testing.T) {
	for name, text := range every(t) {
		for _, what := range violations(text) {
			t.Errorf("%s: %s", name, what)
		}
	}
}

// FuzzPreview holds previews of any text to the same.
func FuzzPreview(f *testing.F) {
	for _, name := range []string{"a.md", "a.go", "a.html", "a.sh", "a.diff", "a", "a.yaml", "a.tex"} {
		f.Add(name, hostileMarkdown)
	}
	f.Add("a.md", "1. [x] a\n2. b\n\n***\n\n|a|b|\n|:-|-:|\n|c|\n\n![a](b.png \"c\") <https://example.com> ~~d~~ &lt; [e]: f")
	f.Fuzz(func(t *testing.T, name, text string) {
		if len(text) > MaxPreview || name == "" || strings.ContainsAny(name, "/\x00") {
			return
		}
		var b strings.Builder
		file := &File{Frame: Frame{Base: "/base", Root: "/base/vol", RootName: "vol", Path: "dir/" + name}, Entry: Entry{Name: name, Size: int64(len(text))}, Content: []byte(text)}
		if err := New().WriteFile(&b, file); err != nil {
			t.Fatal(err)
		}
		for _, what := range violations(b.String()) {
			t.Error(what)
		}
	})
}

var (
	heading = regexp.MustCompile(`(</?[a-z]+)[1-6]\b`)
	scheme  = regexp.MustCompile(`(?i)^((https?|ftp):|mailto:|//)`)
)

// violations returns what a page has that only a user can have put there: all that is left when its
// tags are taken away must be text.
func violations(text string) (list []string) {
	text = heading.ReplaceAllString(text, "$1")
	for _, m := range tag.FindAllStringSubmatch(text, -1) {
		if strings.EqualFold(m[1], "evil") || m[1] == "style" || m[1] == "script" && !strings.Contains(m[2], `src="/base/-/assets/`) {
			list = append(list, "element "+m[0])
		}
		for _, a := range attribute.FindAllStringSubmatch(m[2], -1) {
			value := html.UnescapeString(a[2])
			switch {
			case strings.HasPrefix(a[1], "on"), a[1] == "style":
				list = append(list, "attribute "+a[1]+" in "+m[0])
			case a[1] != "href" && a[1] != "src" && a[1] != "action":
			case a[1] == "href" && scheme.MatchString(value):
			case value != "" && !strings.HasPrefix(value, "/base/") && !strings.HasPrefix(value, "./") && value[0] != '#':
				list = append(list, a[1]+" leads to "+value)
			}
		}
	}
	rest := comment.ReplaceAllString(tag.ReplaceAllString(text, ""), "")
	if i := strings.IndexAny(rest, "<>"); i >= 0 {
		list = append(list, "not a tag: "+rest[max(i-60, 0):min(i+60, len(rest))])
	}
	return list
}

// TestHrefs wants the names of files to reach the server as they are.
func TestHrefs(t *testing.T) {
	href := regexp.MustCompile(`<td class="name">.*?<a href="([^"]*)"`)
	for _, name := range []string{"a b", "a%2fb", "a?b", "a#b", "a+b&amp;", `a\b`, "a:b", "ä", "\xff", "-", "..a", `"`, "<", "a;b=c", "a\nb"} {
		var b strings.Builder
		d := &Directory{Frame: Frame{Root: "/r", RootName: "r", Path: "x y/%"}, Entries: []Entry{{Name: name}}}
		if err := New().WriteDirectory(&b, d); err != nil {
			t.Fatal(err)
		}
		m := href.FindStringSubmatch(b.String())
		if m == nil {
			t.Fatalf("%q: no link", name)
		}
		u, err := url.Parse(html.UnescapeString(m[1]))
		if err != nil || u.Path != "/r/x y/%/"+name || u.RawQuery != paramView || u.Fragment != "" {
			t.Errorf("%q: %s: %+v, %v", name, m[1], u, err)
		}
	}
}

// TestMarkdownLinks wants links of a document to lead to the pages of files, their headings and
// lines.
func TestMarkdownLinks(t *testing.T) {
	for link, want := range map[string]string{
		"b.md": "/r/dir/b.md?view", "b.md#part-one": "/r/dir/b.md?view#h-part-one", "#part": "#h-part", "../main.go#L10": "/r/main.go?view#L10",
		"/top.txt#L1": "/r/top.txt?view#L1", "sub/": "/r/dir/sub/", "sub/x%20y.md": "/r/dir/sub/x%20y.md?view", "../..": "/r/",
		"../../../etc/passwd": "/r/etc/passwd?view", "//evil.example.com/x": "//evil.example.com/x", "javascript:alert(1)": "#",
		"https://example.com/a.md#b": "https://example.com/a.md#b",
	} {
		text := string(markdown([]byte("[a]("+link+")"), "/r", "dir").HTML)
		if !strings.Contains(text, `<a href="`+want+`"`) {
			t.Errorf("%s: %s, want %s", link, text, want)
		}
	}
}

// TestAssets wants each asset that a page names, and the hash in its name.
func TestAssets(t *testing.T) {
	assets := Assets()
	for name, text := range every(t) {
		for _, m := range regexp.MustCompile(`(?:href|src)="/base/-/assets/([^"]*)"`).FindAllStringSubmatch(text, -1) {
			if _, err := fs.Stat(assets, m[1]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, name := range []string{"x", assetsHash(), assetsHash() + "/", assetsHash() + "/../page.go", assetsHash() + "/none", "x" + assetsHash()[1:] + "/page.css"} {
		if _, err := assets.Open(name); err == nil {
			t.Errorf("%s can be opened", name)
		}
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{"a b": "a b", "ä": "ä", "a\nb": `a\x0ab`, "\xff": `\xff`, "a\u202eb": `a\u202eb`, "\u00a0": `\u00a0`, "x\u200by": `x\u200by`} {
		if got := visible(in); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 9949: "9.9 kB", 9950: "10 kB", 999_499: "999 kB", 999_500: "1.0 MB", 1 << 40: "1.1 TB", 1<<63 - 1: "9.2 EB"} {
		if got := humanSize(n); got != want {
			t.Errorf("humanSize(%d) = %q, want %q", n, got, want)
		}
	}
	if got := exactSize(1234567); got != "1,234,567 bytes" {
		t.Error(got)
	}
}

func TestOrder(t *testing.T) {
	d := &Directory{Frame: Frame{RootName: "r"}, Entries: []Entry{{Name: "b10"}, {Name: "B2", Size: 9}, {Name: "a"}, {Name: "z", IsDir: true}, {Name: "b02"}}}
	for query, want := range map[string]string{"": "z a B2 b02 b10", "sort=name&desc=1": "z b10 b02 B2 a", "sort=size&desc=1": "z B2 b10 b02 a", "sort=evil": "z a B2 b02 b10"} {
		values, _ := url.ParseQuery(query)
		d.Order = ParseOrder(values)
		var b strings.Builder
		if err := New().WriteDirectory(&b, d); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range regexp.MustCompile(`data-name="([^"]*)"`).FindAllStringSubmatch(b.String(), -1) {
			names = append(names, m[1])
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
