package runner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// A query is a statement in the form that the drivers get.
type query struct {
	text   string
	params int
}

var (
	errEmpty    = errors.New("it is empty; it takes a SELECT")
	errOne      = errors.New("it takes one statement, without another behind a semicolon")
	errReadOnly = errors.New("it takes a statement that reads: SELECT, WITH or VALUES")
)

// parseQuery checks a statement as far as it can without a database. It writes the numbers of
// parameters in place of their names, because drivers do not agree on names. For example, the query
// "SELECT :a, :b, :a" becomes "SELECT ?1, ?2, ?1".
func parseQuery(sql string) (query, error) {
	parsed, err := syntax.Parse(sql)
	if err != nil {
		return query{}, err
	}
	if parsed.Statement == nil {
		return query{}, errEmpty
	}
	if next, err := syntax.Parse(sql[parsed.Tail:]); err != nil || next.Statement != nil {
		return query{}, errOne
	}
	read, ok := parsed.Statement.(*syntax.Select)
	if !ok || parsed.Explain != syntax.ExplainNone {
		return query{}, errReadOnly
	}
	var list []*syntax.Expr
	numbers := make(map[int32]bool)
	syntax.Walk(read, func(n syntax.Node) bool {
		if e, ok := n.(*syntax.Expr); ok && e.Op == syntax.OpParameter {
			list, numbers[e.Number] = append(list, e), true
		}
		return true
	})
	slices.SortFunc(list, func(a, b *syntax.Expr) int { return cmp.Compare(a.Start, b.Start) }) // of LIMIT, the second comes first
	var text strings.Builder
	at := read.Start
	for _, e := range list {
		text.WriteString(sql[at:e.Start] + "?" + strconv.Itoa(int(e.Number)))
		at = e.End
	}
	text.WriteString(sql[at:read.End])
	if parsed.Parameters > len(numbers) {
		return query{}, fmt.Errorf("it has parameter %d, but not all before it", parsed.Parameters)
	}
	return query{text.String(), parsed.Parameters}, nil
}
