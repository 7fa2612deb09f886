package syntax

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// A judged is a text of the corpus with the answers of SQLite.
type judged struct {
	name       string
	sql        string
	statements []answer
}

// An answer is what SQLite said about one statement of a text. Offsets count from the start of the
// text.
type answer struct {
	start, end int
	message    string // "" if SQLite took the statement
	offset     int    // of the error, -1 if unknown
	reached    int    // how far SQLite read, -1 for the end
}

// corpus reads all texts of the module's testdata.
func corpus(t testing.TB) []judged {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/sqlc-dev/meyer").Output()
	if err != nil || len(bytes.TrimSpace(dir)) == 0 {
		t.Skipf("the module of the corpus is not here: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "parser", "testdata", "*.test"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in the corpus: %v", err)
	}
	var all []judged
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, readCorpus(strings.TrimSuffix(filepath.Base(f), ".test"), string(b))...)
	}
	return all
}

// readCorpus reads a file of the corpus: cases of a line "==== NAME", the text, a line "----", and
// a line "stmt ..." for each statement.
func readCorpus(file, content string) []judged {
	var all []judged
	for _, part := range strings.Split("\n"+content, "\n==== ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		sql, answers, _ := strings.Cut(rest, "\n----\n")
		if after, ok := strings.CutPrefix(rest, "----\n"); ok {
			sql, answers = "", after
		} else {
			sql += "\n"
		}
		j := judged{name: file + "/" + name, sql: sql}
		for line := range strings.SplitSeq(answers, "\n") {
			if line, ok := strings.CutPrefix(line, "stmt "); ok {
				j.statements = append(j.statements, readAnswer(line))
			}
		}
		for i := range j.statements {
			end := len(sql)
			if i+1 < len(j.statements) {
				end = j.statements[i+1].start
			}
			j.statements[i].end = end
		}
		all = append(all, j)
	}
	return all
}

// readAnswer reads "START ok [REACHED]" or "START err CODE OFFSET REACHED MESSAGE".
func readAnswer(line string) answer {
	f := strings.SplitN(line, " ", 6)
	number := func(i int) int {
		n, _ := strconv.Atoi(f[i])
		return n
	}
	a := answer{start: number(0), offset: -1, reached: -1}
	switch {
	case f[1] == "err":
		a.offset, a.reached, a.message = number(3), number(4), f[5]
	case len(f) > 2:
		a.reached = number(2)
	}
	return a
}

// isSyntax reports whether a message comes from SQLite's grammar or tokenizer.
func isSyntax(message string) bool {
	return strings.HasPrefix(message, "near \"") && strings.HasSuffix(message, ": syntax error") ||
		strings.HasPrefix(message, "unrecognized token: ") || message == "incomplete input"
}

// differs says how the parser answers otherwise than SQLite about a statement of a text, "" if it
// does not. The parser may fail in text that SQLite did not read, because it found a name unknown
// before.
func (a answer) differs(sql string) string {
	parsed, err := syntax.Parse(sql[a.start:a.end])
	if err == nil {
		if isSyntax(a.message) {
			return "accepted, but SQLite: " + a.message
		}
		return spans(sql[a.start:a.end], parsed)
	}
	offset := err.Offset
	if offset >= 0 {
		offset += a.start
	}
	switch {
	case err.Message == a.message && (offset == a.offset || a.offset < 0):
		return ""
	case isSyntax(a.message):
		return fmt.Sprintf("%s at %d, but SQLite: %s at %d", err.Message, offset, a.message, a.offset)
	case a.reached >= 0 && (offset >= a.reached || offset < 0):
		return ""
	}
	return fmt.Sprintf("%s at %d, but SQLite read it: %s, up to %d", err.Message, offset, a.message, a.reached)
}

// TestCorpus judges every text of the corpus.
func TestCorpus(t *testing.T) {
	t.Parallel()
	texts, failed := 0, 0
	for _, c := range corpus(t) {
		texts++
		for _, a := range c.statements {
			if d := a.differs(c.sql); d != "" {
				failed++
				t.Errorf("%s: %q: %s", c.name, c.sql[a.start:a.end], d)
				break
			}
		}
	}
	const want = 21326
	if texts != want {
		t.Errorf("%d texts in the corpus, want %d", texts, want)
	}
	t.Logf("%d of %d texts agree", texts-failed, texts)
}
