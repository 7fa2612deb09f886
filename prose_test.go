package folio_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// commentColumns is how wide a line of comment may be. A tab counts 4 columns.
const commentColumns = 100

// eachFile calls fn with the text of each file of the repository with a given extension, apart from
// data of tests.
func eachFile(t *testing.T, ext string, fn func(name, text string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "assets" || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ext:
			return nil
		}
		text, err := os.ReadFile(name)
		if err == nil {
			fn(name, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCommentWidth wants comments that fit into 100 columns, where they have a line for themselves.
// Links and drawings may be wider.
func TestCommentWidth(t *testing.T) {
	eachFile(t, ".go", func(name, text string) {
		for i, line := range strings.Split(text, "\n") {
			code := strings.TrimLeft(line, "\t")
			if strings.HasPrefix(code, "// ") && len([]rune(code))+4*(len(line)-len(code)) > commentColumns && !strings.Contains(code, "://") {
				t.Errorf("%s:%d: a comment of more than %d columns", name, i+1, commentColumns)
			}
		}
	})
}

// label is how a comment defines an invariant: "W1" and two spaces, indented by a tab.
var label = regexp.MustCompile(`^\s*//\t([A-Z][0-9]+)  `)

// TestInvariantsOnce wants each invariant of a package to have a label of its own.
func TestInvariantsOnce(t *testing.T) {
	defined := make(map[string]string)
	eachFile(t, ".go", func(name, text string) {
		for i, line := range strings.Split(text, "\n") {
			if m := label.FindStringSubmatch(line); m != nil {
				key, place := path.Dir(name)+" "+m[1], fmt.Sprintf("%s:%d", name, i+1)
				if defined[key] != "" {
					t.Errorf("%s: invariant %s is defined at %s as well", place, m[1], defined[key])
				}
				defined[key] = place
			}
		}
	})
}

// link is a link of Markdown to a file of the repository.
var link = regexp.MustCompile(`\]\(([^):#]+)(#[^)]*)?\)`)

// TestLinks wants the files that documents link to.
func TestLinks(t *testing.T) {
	eachFile(t, ".md", func(name, text string) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(path.Join(path.Dir(name), m[1])); err != nil {
				t.Errorf("%s: a link to %s, which is not there", name, m[1])
			}
		}
	})
}
