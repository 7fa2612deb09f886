package syntax

import (
	"errors"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	mattn "github.com/mattn/go-sqlite3"
	"github.com/ncruces/go-sqlite3"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/internal/sql/syntax"
)

var (
	texts = flag.Int("syntax.texts", 20000, "how many mutated texts the parsers of SQLite and of this module read")
	seed  = flag.Uint64("syntax.seed", 38, "which ones")
)

// raised has parts of the messages that SQLite's parser raises beyond its grammar.
var raised = []string{
	"unknown table option:", " clause should come after ", "too many terms in compound SELECT",
	"Expression tree is too large", "syntax error after column name", "variable number must be between",
	"too many SQL variables", "too many arguments on function", "unknown join type:", " columns assigned ",
	"a JOIN clause is required before", "duplicate WITH table name:", "unsupported frame specification",
	"Recursion limit", "clause is not allowed on UPDATE or DELETE statements within triggers",
}

func isRaised(message string) bool {
	return slices.ContainsFunc(raised, func(part string) bool { return strings.Contains(message, part) })
}

// A preparer prepares statements by SQLite on an empty database: in C for the message, and by
// ncruces for the offset, which mattn does not report.
type preparer struct {
	c    *judge.Conn
	wasm *sqlite3.Conn
}

func newPreparer(t testing.TB) *preparer {
	t.Helper()
	if !judge.Available {
		t.Skip("no C SQLite in this build")
	}
	c, err := judge.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	wasm, err := sqlite3.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); wasm.Close() })
	return &preparer{c, wasm}
}

// answer returns what SQLite says about the first statement of a text.
func (p *preparer) answer(sql string) (message string, offset, tail int) {
	stmt, rest, err := p.wasm.Prepare(sql)
	if err == nil {
		stmt.Close()
		return "", -1, len(sql) - len(rest)
	}
	offset = -1
	if e, ok := errors.AsType[*sqlite3.Error](err); ok && e.SQL() != "" {
		offset = len(sql) - len(e.SQL())
	}
	message = strings.TrimPrefix(err.Error(), "sqlite3: ")
	message = strings.TrimPrefix(message, "SQL logic error: ")
	return message, offset, -1
}

// messageInC returns the message of C SQLite, "" if it takes the statement.
func (p *preparer) messageInC(sql string) string {
	stmt, err := p.c.Prepare(sql)
	if err == nil {
		stmt.Close()
		return ""
	}
	if e, ok := errors.AsType[mattn.Error](err); ok {
		return e.Error()
	}
	return err.Error()
}

// A verdict is how the parsers compare about a text.
type verdict string

const (
	bothAccept  verdict = "both accept"
	sameError   verdict = "same message and offset"
	onlyNames   verdict = "SQLite refuses names or meaning, the grammar is right"
	notReached  verdict = "SQLite refuses names or meaning before the syntax error"
	differs     verdict = "differ"
	builds      verdict = "the two builds of SQLite differ"
	otherOffset verdict = "other offset"
	otherTail   verdict = "other tail"
	noRoundTrip verdict = "the printed tree is another"
)

// compare judges a text. It returns what both sides said, too.
func (p *preparer) compare(sql string) (verdict, string) {
	message, offset, tail := p.answer(sql)
	parsed, err := syntax.Parse(sql)
	ours := &syntax.Error{Offset: -1}
	if err != nil {
		ours = err
	}
	both := "ours: " + ours.Error() + "; SQLite: " + message
	switch {
	case err == nil && message == "":
		if parsed.Tail != tail && strings.TrimSpace(sql[min(parsed.Tail, tail):max(parsed.Tail, tail)]) != "" {
			return otherTail, both
		}
		if d := roundTrip(parsed); d != "" {
			return noRoundTrip, d
		}
		return bothAccept, ""
	case ours.Message == message:
		if ours.Offset != offset {
			return otherOffset, both
		}
		return sameError, ""
	case isSyntax(message) || isRaised(message) || message == "":
		if c := p.messageInC(sql); c != message {
			if c == ours.Message {
				return builds, ""
			}
			return differs, both + "; in C: " + c
		}
		return differs, both
	case err == nil:
		if d := roundTrip(parsed); d != "" {
			return noRoundTrip, d
		}
		return onlyNames, ""
	}
	return notReached, ""
}

// TestSQLite compares the errors of the corpus with SQLite's.
func TestSQLite(t *testing.T) {
	t.Parallel()
	p := newPreparer(t)
	counts := map[verdict]int{}
	for _, c := range corpus(t) {
		for _, a := range c.statements {
			p.count(t, counts, c.sql[a.start:a.end])
		}
	}
	report(t, counts)
}

// count compares a text, and reports a difference.
func (p *preparer) count(t *testing.T, counts map[verdict]int, sql string) {
	t.Helper()
	v, both := p.compare(sql)
	counts[v]++
	if both != "" && counts[v] <= 20 {
		t.Errorf("%s: %q: %s", v, sql, both)
	}
}

func report(t *testing.T, counts map[verdict]int) {
	t.Helper()
	for v, n := range counts {
		t.Logf("%8d %s", n, v)
	}
}

// TestMutated compares on texts of the corpus in which tokens were changed at random.
func TestMutated(t *testing.T) {
	t.Parallel()
	p := newPreparer(t)
	var all []string
	for _, c := range corpus(t) {
		for _, a := range c.statements {
			if a.end-a.start < 400 {
				all = append(all, c.sql[a.start:a.end])
			}
		}
	}
	m := mutator{rand.New(rand.NewPCG(*seed, 2)), all}
	counts := map[verdict]int{}
	for range *texts {
		p.count(t, counts, m.text())
	}
	report(t, counts)
}
