package syntax

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// spans says which node of a tree has a span that is not within the text, "" if none has.
func spans(sql string, parsed *syntax.Parsed) string {
	if parsed.Statement == nil {
		return ""
	}
	bad := ""
	syntax.Walk(parsed.Statement, func(n syntax.Node) bool {
		if s := n.Bounds(); s.Start < 0 || s.End < s.Start || s.End > len(sql) || s.End == 0 {
			bad = fmt.Sprintf("%T has the span %v", n, s)
		}
		return true
	})
	return bad
}

// TestRoundTrip prints every tree of the corpus, and wants the text to read as the same tree.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	trees := 0
	for _, c := range corpus(t) {
		for _, a := range c.statements {
			parsed, err := syntax.Parse(c.sql[a.start:a.end])
			if err != nil {
				continue
			}
			trees++
			if d := roundTrip(parsed); d != "" {
				t.Errorf("%s: %q: %s", c.name, c.sql[a.start:a.end], d)
			}
		}
	}
	t.Logf("%d trees", trees)
}

// roundTrip says how the text of a tree does not read as the same tree, "" if it does.
func roundTrip(parsed *syntax.Parsed) string {
	text := parsed.String()
	again, err := syntax.Parse(text)
	if err != nil {
		return fmt.Sprintf("%v at %d in the printed %q", err, err.Offset, text)
	}
	clearSpans(reflect.ValueOf(parsed))
	clearSpans(reflect.ValueOf(again))
	parsed.Tail, again.Tail = 0, 0
	if !reflect.DeepEqual(parsed, again) {
		return fmt.Sprintf("another tree from the printed %q: %s", text, again)
	}
	return ""
}

var spanType = reflect.TypeFor[syntax.Span]()

// clearSpans sets all spans below v to zero.
func clearSpans(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			clearSpans(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			clearSpans(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == spanType && v.CanSet() {
			v.SetZero()
			return
		}
		clearWith(v)
		for i := range v.NumField() {
			if f := v.Field(i); v.Type().Field(i).IsExported() {
				clearSpans(f)
			}
		}
	}
}

// clearWith takes the quotes off a name WITH, which the printer adds.
func clearWith(v reflect.Value) {
	text, quote := v.FieldByName("Text"), v.FieldByName("Quote")
	if quote.IsValid() && text.Kind() == reflect.String && strings.EqualFold(text.String(), "with") {
		quote.SetZero()
	}
}
