package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foliofs/folio/lab/report/figure"
)

// A Sentence is a verdict: text in which the names of contenders stand out.
type Sentence []Span

// A Span is a part of a sentence.
type Span struct {
	Text string
	Name bool // of a contender
}

func plain(text string) Sentence { return Sentence{{Text: text}} }

// add appends text.
func (s *Sentence) add(format string, args ...any) {
	*s = append(*s, Span{Text: fmt.Sprintf(format, args...)})
}

// names appends contenders: "a", "a and b", "a, b and 3 more".
func (s *Sentence) names(list []string) {
	const most = 4
	more := 0
	if len(list) > most {
		list, more = list[:most-1], len(list)-most+1
	}
	for i, name := range list {
		if i > 0 {
			s.add("%s", conjunction(i == len(list)-1 && more == 0))
		}
		*s = append(*s, Span{name, true})
	}
	if more > 0 {
		s.add(" and %d more", more)
	}
}

func conjunction(last bool) string {
	if last {
		return " and "
	}
	return ", "
}

// String is the sentence without its marks.
func (s Sentence) String() string {
	var b strings.Builder
	for _, span := range s {
		b.WriteString(span.Text)
	}
	return b.String()
}

// verdict says of a case who is fastest, by how much, and where the others are that a reader looks for.
func (p *Panel) verdict() (s Sentence) {
	first, unit := p.Rows[0], plural(p.Case.Unit)
	rate := fmt.Sprintf("%s %s a second", figure.Number.Format(first.Rate.Median), unit)
	if len(p.Rows) == 1 {
		s.names([]string{first.Contender.ID})
		s.add(" alone has figures here: %s", rate)
		p.fewer(&s)
		s.add(".")
		return s
	}
	switch top := p.top(); {
	case !p.sure():
		s.names(top[:1])
		s.add(" came out first with %s, %s as many as ", rate, figure.Factor(p.Rows[1].Behind))
		s.names([]string{p.Rows[1].Contender.ID})
	case len(top) > 1:
		s.names(top)
		s.add(" are level, as far as these samples tell: about %s", rate)
	default:
		s.names(top)
		s.add(" is fastest with %s, %s as many as ", rate, figure.Factor(p.Rows[1].Behind))
		s.names([]string{p.Rows[1].Contender.ID})
	}
	p.others(&s)
	if !p.sure() {
		s.add("; %s of each %s too few to be sure", count(first.Rate.N, "sample"), are(first.Rate.N))
	} else {
		p.fewer(&s)
	}
	s.add(".")
	return s
}

// fewer says who has fewer samples than the rules ask for.
func (p *Panel) fewer(s *Sentence) {
	few := p.few()
	if len(few) == 0 {
		return
	}
	same := !slices.ContainsFunc(p.Rows, func(row *Row) bool { return row.Rate.N != few[0].Rate.N })
	if same {
		s.add("; of %s, where %d are asked for", count(few[0].Rate.N, "sample"), figure.Samples)
		return
	}
	var names []string
	for _, row := range few {
		names = append(names, row.Contender.ID)
	}
	s.add("; ")
	s.names(names)
	s.add(" %s fewer than the %d samples that are asked for", have(len(few)), figure.Samples)
}

func have(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

// top are the first and all that are level with it.
func (p *Panel) top() (names []string) {
	for i, row := range p.Rows {
		if i == 0 || row.Level {
			names = append(names, row.Contender.ID)
		}
	}
	return names
}

// others says where the best of ours and the best driver of SQLite are, unless that was said already.
func (p *Panel) others(s *Sentence) {
	said := p.top()
	if !p.sure() {
		said = said[:1]
	}
	if len(said) == 1 {
		said = append(said, p.Rows[1].Contender.ID)
	}
	if ours := p.best("ours"); ours != nil && !slices.Contains(said, ours.Contender.ID) {
		s.add("; ")
		s.names([]string{ours.Contender.ID})
		s.add(", ours, %s", behind(ours.Behind))
	}
	if sql := p.best("sql"); sql != nil && !slices.Contains(said, sql.Contender.ID) {
		s.add("; ")
		s.names([]string{sql.Contender.ID})
		s.add(", the best SQLite driver, %s", behind(sql.Behind))
	}
}

// behind says where one is that has so many times less than the first.
func behind(times float64) string {
	if times < 2 {
		return fmt.Sprintf("does %.0f%% of that", 100/times)
	}
	return "is " + figure.Factor(times) + " slower"
}

// best is the first row of a family.
func (p *Panel) best(family string) *Row {
	for _, row := range p.Rows {
		if row.Family.Key == family {
			return row
		}
	}
	return nil
}

// Best is the best of a family, for the overview.
func (p *Panel) Best(family string) *Row { return p.best(family) }

// BestOther is the best of those that are neither ours, nor drivers of SQLite, nor files.
func (p *Panel) BestOther() *Row {
	for _, row := range p.Rows {
		if !slices.Contains([]string{"ours", "sql", "files"}, row.Family.Key) {
			return row
		}
	}
	return nil
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// verdict says of a question who wins its cases, group by group.
func (q *Question) verdict() (s Sentence) {
	var sections []*Section
	for _, section := range q.Sections {
		if len(section.measured()) > 0 {
			sections = append(sections, section)
		}
	}
	switch {
	case len(sections) == 0:
		return plain("There are no figures for this question.")
	case len(sections) == 1 && len(q.panels()) == 1:
		return q.panels()[0].Verdict
	}
	for i, section := range sections {
		if i > 0 {
			s.add("; ")
		}
		if len(sections) > 1 {
			s.add("%s: ", section.Title)
		}
		section.winners(&s)
	}
	if !q.sure() {
		s.add("; the samples are too few to be sure")
	} else if n := q.few(); n > 0 {
		s.add("; of fewer than %d samples in %s", figure.Samples, count(n, "case"))
	}
	s.add(".")
	if text := s[0].Text; !s[0].Name && text != "" {
		s[0].Text = strings.ToUpper(text[:1]) + text[1:]
	}
	return s
}

// measured are the cases with figures.
func (s *Section) measured() (list []*Panel) {
	for _, p := range s.Panels {
		if len(p.Rows) > 0 {
			list = append(list, p)
		}
	}
	return list
}

// sure reports whether all of them have samples enough.
func (q *Question) sure() bool {
	return !slices.ContainsFunc(q.panels(), func(p *Panel) bool { return len(p.Rows) > 1 && !p.sure() })
}

// few counts the cases in which somebody has fewer samples than there should be.
func (q *Question) few() (n int) {
	for _, p := range q.panels() {
		if len(p.few()) > 0 {
			n++
		}
	}
	return n
}

// winners says who is first in how many cases.
func (s *Section) winners(to *Sentence) {
	wins := make(map[string]int)
	var order []string
	for _, p := range s.measured() {
		name := p.Rows[0].Contender.ID
		if wins[name]++; wins[name] == 1 {
			order = append(order, name)
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return wins[b] - wins[a] })
	all := len(s.measured())
	for i, name := range order {
		if i > 0 {
			to.add("%s", conjunction(i == len(order)-1))
		}
		to.names([]string{name})
		switch {
		case all == 1:
			to.add(" %s", s.measured()[0].lead())
		case len(order) == 1:
			to.add(" comes first in %s%s", every(all), s.ahead())
		case i == 0:
			to.add(" comes first in %d of %d cases", wins[name], all)
		default:
			to.add(" in %d", wins[name])
		}
	}
	if n := s.level(); n > 0 && all > 1 {
		to.add(", level with others in %d", n)
	}
}

// level counts the cases in which the first is level with others.
func (s *Section) level() (n int) {
	for _, p := range s.measured() {
		if p.sure() && len(p.top()) > 1 {
			n++
		}
	}
	return n
}

func every(n int) string {
	if n == 2 {
		return "both cases"
	}
	return fmt.Sprintf("all %d cases", n)
}

// lead is what the first of a case has.
func (p *Panel) lead() string {
	text := fmt.Sprintf("%s %s a second", figure.Number.Format(p.Rows[0].Rate.Median), plural(p.Case.Unit))
	switch {
	case len(p.Rows) == 1:
		return "alone, " + text
	case p.sure() && len(p.top()) > 1:
		return "with " + text + ", level with " + count(len(p.top())-1, "other")
	}
	return "with " + text + ", " + figure.Factor(p.Rows[1].Behind) + " the next"
}

// ahead is how far the first is ahead of the second, from the least to the most.
func (s *Section) ahead() string {
	var all []float64
	for _, p := range s.measured() {
		if len(p.Rows) > 1 {
			all = append(all, p.Rows[1].Behind)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf(", %s to %s as fast as the next", figure.Digits(slices.Min(all)), figure.Factor(slices.Max(all)))
}
