package syntax

import "strings"

// A printer collects the text of a tree.
type printer struct{ strings.Builder }

// text returns the text written so far, without a space in front.
func (w *printer) text() string { return strings.TrimPrefix(w.String(), " ") }

// word writes a word with a space in front.
func (w *printer) word(s string) {
	if w.Len() > 0 && s != "" {
		w.WriteByte(' ')
	}
	w.WriteString(s)
}

// wordIf writes a word if ok.
func (w *printer) wordIf(ok bool, s string) {
	if ok {
		w.word(s)
	}
}

// quoted returns a name in the quotes that it had.
func quoted(text string, quote byte) string {
	switch quote {
	case 0:
		return text
	case '[':
		return "[" + text + "]"
	}
	q := string(quote)
	return q + strings.ReplaceAll(text, q, q+q) + q
}

func (w *printer) name(n Name) { w.word(quoted(n.Text, n.Quote)) }

// nameAfter writes a word and a name, unless there is none.
func (w *printer) nameAfter(word string, n Name) {
	if !n.IsZero() {
		w.word(word)
		w.name(n)
	}
}

func (w *printer) qualified(n QualifiedName) {
	if !n.Schema.IsZero() {
		w.name(n.Schema)
		w.WriteByte('.')
		w.WriteString(quoted(n.Name.Text, n.Name.Quote))
		return
	}
	w.name(n.Name)
}

// list writes n things between commas.
func (w *printer) list(n int, one func(i int)) {
	for i := range n {
		if i > 0 {
			w.WriteByte(',')
		}
		one(i)
	}
}

// parens writes something in parentheses.
func (w *printer) parens(in func()) {
	w.WriteString(" (")
	in()
	w.WriteString(" )")
}

func (w *printer) exprs(list []*Expr) {
	w.list(len(list), func(i int) { w.expr(list[i]) })
}

func (w *printer) names(list []Name) {
	w.parens(func() { w.list(len(list), func(i int) { w.name(list[i]) }) })
}

func (w *printer) nameTerms(list []NameTerm) {
	if list != nil {
		w.parens(func() { w.list(len(list), func(i int) { w.name(list[i].Name) }) })
	}
}

func (w *printer) terms(list []Term) {
	w.list(len(list), func(i int) {
		w.expr(list[i].Expr)
		w.word([...]string{"", "ASC", "DESC"}[list[i].Order])
		w.word([...]string{"", "NULLS FIRST", "NULLS LAST"}[list[i].Nulls])
	})
}

func (w *printer) orderBy(list []Term) {
	if list != nil {
		w.word("ORDER BY")
		w.terms(list)
	}
}

func (w *printer) exprAfter(word string, e *Expr) {
	if e != nil {
		w.word(word)
		w.expr(e)
	}
}
