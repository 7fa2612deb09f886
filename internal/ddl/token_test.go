package ddl

import (
	"strings"
	"testing"
)

// tokens splits a text into the texts of its tokens; illegal ones have an exclamation mark before
// them.
func tokens(sql string) (list []string) {
	for i := 0; ; {
		t := scan(sql, i)
		if t.kind == tokEnd {
			return list
		}
		s := sql[t.start:t.end]
		if t.kind == tokIllegal {
			s = "!" + s
		}
		list, i = append(list, s), t.end
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sql, want string }{
		{"", ""},
		{"a b", "a|b"},
		{"a--b\nc--", "a|c"},
		{"a/*b*/c/**/d/*/e", "a|c|d"},
		{"a /*", "a|/|*"},
		{"\ufeffa\ufeff", "a\ufeff"},
		{"a \v\f\r\nb", "a|b"},
		{"a\vb", "a|!\v|b"},
		{"'a''b'c", "'a''b'|c"},
		{"\"a\"\"b\"`c``d`[e\"f]g", "\"a\"\"b\"|`c``d`|[e\"f]|g"},
		{"'a", "!'a"},
		{"[a", "![a"},
		{"x'0f'X''y'0f'", "x'0f'|X''|y|'0f'"},
		{"x'0'", "!x'0|!'"},
		{"1 2.5 .5 5. 1e3 1e+3 1.5E-3 0x1F", "1|2.5|.5|5.|1e3|1e+3|1.5E-3|0x1F"},
		{"1_0 1a 0xg 1e 1e+ 1.2.3", "1_0|!1a|!0xg|!1e|!1e|+|1.2|.3"},
		{"a.b", "a|.|b"},
		{"a$b _c é$ $d", "a$b|_c|é$|$d"},
		{"?1a ?a :b @c #d $e::f(g) $ $(h)", "?1|a|?|a|:b|@c|#d|$e::f(g)|!$|!$|(|h|)"},
		{"$a(b c)", "!$a(b|c|)"},
		{"<=<><<<>=>>>==!=", "<=|<>|<<|<>|=|>>|>=|=|!="},
		{"->>->-/%&~+*", "->>|->|-|/|%|&|~|+|*"},
		{"|||", "||||"},
		{"!", "!!"},
		{"a\\b", "a|!\\|b"},
	} {
		if got := strings.Join(tokens(c.sql), "|"); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

// TestKeywords wants the words to be of the kind that the range checks of tokenKind rely on.
func TestKeywords(t *testing.T) {
	t.Parallel()
	for word, kind := range keywords {
		if len(word) > longestKeyword || word != Fold(word) {
			t.Errorf("%s is too long or not in lower case", word)
		}
		if keyword(strings.ToUpper(word)) != kind {
			t.Errorf("%s is not found", word)
		}
	}
	for _, word := range []string{"key", "desc", "temp", "without", "generated", "current_date", "like", "abort"} {
		if !keywords[word].isID() || !keywords[word].isName() {
			t.Errorf("%s is no identifier", word)
		}
	}
	for _, word := range []string{"select", "table", "not", "default", "returning", "add", "null"} {
		if keywords[word].isName() {
			t.Errorf("%s is a name", word)
		}
	}
	if !kwIndexed.isName() || kwIndexed.isID() || !kwJoin.isName() || kwJoin.isID() || !tokString.isName() || tokString.isID() {
		t.Error("INDEXED, join keywords and strings are names but not identifiers")
	}
}
