package page

import (
	"fmt"
	"strings"
	"testing"
)

// pageOf returns the page of a file.
func pageOf(t *testing.T, name, text string, plain bool) string {
	t.Helper()
	var b strings.Builder
	f := &File{Frame: Frame{Base: "/base", Root: "/base/vol", RootName: "vol", Path: name}, Entry: Entry{Name: name, Size: int64(len(text))}, Content: []byte(text), Plain: plain}
	if err := New().WriteFile(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTable shows comma-separated values as a table.
func TestTable(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a.csv", "name,size\nx,1\n\"a, \"\"b\"\"\",2\n", `<th scope="col">name</th><th scope="col">size</th></tr>|<td>x</td><td>1</td>|<td>a, &#34;b&#34;</td>`},
		{"a.csv", "\xef\xbb\xbfa;b;c\n1,5;2;3\n", `<th scope="col">a</th>|<td>1,5</td><td>2</td><td>3</td>`},
		{"a.tsv", "a\tb\n1,2\t3\n", `<td>1,2</td><td>3</td>`},
		{"a.CSV", "a,b\n<evil>,\"x\ny\"\n,\n", "<td>&lt;evil&gt;</td><td>x\ny</td>|<td></td><td></td>"},
		{"a.csv", "a,b\n1\n1,2,3\n", `<td>1</td></tr>|<td>3</td>`},
		{"a.csv", "a,b\nx\"y,2\n", `<td>x&#34;y</td>`},
		{"a.csv", "a\xff,b\n", "<th scope=\"col\">a\uFFFD</th>"},
	} {
		text := pageOf(t, tt.name, tt.text, false)
		for want := range strings.SplitSeq(tt.want, "|") {
			if !strings.Contains(text, want) {
				t.Errorf("%q: no %s in %s", tt.text, want, text)
			}
		}
		for _, what := range violations(text) {
			t.Errorf("%q: %s", tt.text, what)
		}
		if !strings.Contains(text, "?view=text") || strings.Contains(pageOf(t, tt.name, tt.text, true), `class="data"`) {
			t.Errorf("%q: no way to the text", tt.text)
		}
	}
	for _, text := range []string{"no table at all\nbut lines\n", strings.Repeat("a,", 300) + "\n", "a\n"} {
		if page := pageOf(t, "a.csv", text, false); strings.Contains(page, `class="data"`) || !strings.Contains(page, `class="code lines`) {
			t.Errorf("%.20q is a table", text)
		}
	}
	long := strings.Repeat("a,b\n", 3000)
	if page := pageOf(t, "a.csv", long, false); strings.Count(page, "<tr>") != maxRows || !strings.Contains(page, fmt.Sprintf("the first %d rows", maxRows)) {
		t.Errorf("%d rows", strings.Count(page, "<tr>"))
	}
}

// TestLongLines breaks lines that no screen is wide enough for, and lays JSON without lines out.
func TestLongLines(t *testing.T) {
	json := `{"list":[` + strings.Repeat(`{"name":"<evil>","n":1.50},`, 50) + `null]}`
	page := pageOf(t, "a.json", json, false)
	if !strings.Contains(page, "?view=text") || strings.Count(page, "\n") < 200 || !strings.Contains(page, "1.50") {
		t.Error(page)
	}
	for _, what := range violations(page) {
		t.Error(what)
	}
	if page := pageOf(t, "a.json", json, true); !strings.Contains(page, `class="code lines wrap"`) || !strings.Contains(page, `href="/base/vol/a.json?view"`) {
		t.Error(page)
	}
	for name, text := range map[string]string{"b.json": json[:len(json)-1], "c.json": "{\n\"a\": 1}\n", "d.json": "{}", "e.txt": json} {
		if page := pageOf(t, name, text, false); strings.Contains(page, "?view=text") {
			t.Errorf("%s is laid out", name)
		}
	}
	if page := pageOf(t, "a.txt", strings.Repeat("a line\n", 100), false); !strings.Contains(page, `class="code lines"`) {
		t.Error("short lines are broken")
	}
	if page := pageOf(t, "a.txt", strings.Repeat("word ", 100), false); !strings.Contains(page, `class="code lines wrap"`) {
		t.Error("a long line is not broken")
	}
}
