package syntax

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/sql/syntax"
)

var logictest = flag.String("syntax.logictest", "", "a directory with scripts of sqllogictest")

// TestLogictest wants every statement of the scripts to be one, except those that a script expects
// to fail.
func TestLogictest(t *testing.T) {
	t.Parallel()
	if *logictest == "" {
		t.Skip("no -syntax.logictest")
	}
	scripts, statements, expected, refused := 0, 0, 0, 0
	err := filepath.WalkDir(*logictest, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".test") {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		scripts++
		for sql, fails := range records(string(b)) {
			statements++
			if fails {
				expected++
			}
			if _, err := syntax.Parse(sql); err == nil {
				continue
			} else if fails {
				refused++
			} else {
				t.Errorf("%s: %.300s: %v", name, sql, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d statements of %d scripts, %d of them expected to fail, %d of those by syntax", statements, scripts, expected, refused)
}

// records yields the statements and queries of a script, and whether each is expected to fail. A
// record begins with "statement" or "query" and ends with an empty line, a query with "----", too.
// It leaves out records for other databases.
func records(script string) func(yield func(string, bool) bool) {
	return func(yield func(string, bool) bool) {
		var sql []string
		inside, fails, other := false, false, false
		for line := range strings.Lines(script + "\n\n") {
			line = strings.TrimRight(line, "\r\n")
			switch {
			case inside && (line == "" || line == "----"):
				inside = false
				skip := other
				other = other && line != ""
				if !skip && !yield(strings.Join(sql, "\n"), fails) {
					return
				}
			case inside:
				sql = append(sql, line)
			case line == "":
				other = false
			case line == "skipif sqlite", strings.HasPrefix(line, "onlyif ") && !strings.HasPrefix(line, "onlyif sqlite"):
				other = true
			case strings.HasPrefix(line, "statement "), strings.HasPrefix(line, "query "):
				inside, sql, fails = true, nil, strings.HasPrefix(line, "statement error")
			}
		}
	}
}
