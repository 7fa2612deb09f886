package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/foliofs/folio/lab/report/figure"
	"github.com/foliofs/folio/lab/result"
)

// A verdict is a list of clauses, each with a name and a fixed form, for example "engine is
// fastest: 3.01 k read/s, 2 times as many as mattn". Names in a list have commas between them.

// join makes a verdict of its clauses.
func join(clauses []string) string { return strings.Join(clauses, "; ") + "." }

// perSecond is the unit of a case's rates.
func perSecond(c *result.Case) string { return cmp.Or(c.Unit, "operation") + "/s" }

// names lists the contenders of rows.
func names(rows []*Row) string {
	var list []string
	for _, row := range rows {
		list = append(list, row.Contender.ID)
	}
	return strings.Join(list, ", ")
}

// verdict says which contender of a case is fastest, by how much, and how far behind the best of
// ours and the best driver of SQLite are.
func (p *Panel) verdict() string {
	clauses := []string{p.lead()}
	said := append(p.top(), p.Rows[min(1, len(p.Rows)-1)])
	for _, best := range []struct{ family, title string }{{"ours", "best of ours"}, {"sql", "best SQLite driver"}} {
		if row := p.Best(best.family); row != nil && !slices.Contains(said, row) {
			clauses = append(clauses, fmt.Sprintf("%s: %s, %s slower", best.title, row.Contender.ID, figure.Factor(row.Behind)))
		}
	}
	switch few := p.few(); {
	case len(p.Rows) > 1 && !p.sure():
		clauses = append(clauses, fmt.Sprintf("%s samples are too few to be sure", figure.Count(p.fewest())))
	case len(few) > 0:
		clauses = append(clauses, fmt.Sprintf("fewer than %d samples: %s", figure.Samples, names(few)))
	}
	return join(clauses)
}

// fewest is the number of samples of the row that has the fewest.
func (p *Panel) fewest() int {
	return slices.MinFunc(p.Rows, func(a, b *Row) int { return cmp.Compare(a.Rate.N, b.Rate.N) }).Rate.N
}

// lead says which contender comes first in a case, or that several are level.
func (p *Panel) lead() string {
	first, top := p.Rows[0], p.top()
	rate := figure.Number.Format(first.Rate.Median) + " " + perSecond(p.Case)
	switch {
	case len(p.Rows) == 1:
		return fmt.Sprintf("only %s has figures: %s", first.Contender.ID, rate)
	case p.sure() && len(top) > 1:
		return fmt.Sprintf("level, as far as these samples tell: %s; about %s", names(top), rate)
	case p.sure():
		return fmt.Sprintf("%s is fastest: %s, %s as many as %s", first.Contender.ID, rate, figure.Factor(p.Rows[1].Behind), p.Rows[1].Contender.ID)
	}
	return fmt.Sprintf("%s came out first: %s, %s as many as %s", first.Contender.ID, rate, figure.Factor(p.Rows[1].Behind), p.Rows[1].Contender.ID)
}

// top returns the first row and all rows that are level with it.
func (p *Panel) top() []*Row {
	return slices.DeleteFunc(slices.Clone(p.Rows), func(row *Row) bool { return !row.First() })
}

// Best returns the first row of a family; nil if there is none.
func (p *Panel) Best(family string) *Row {
	return p.firstOf(func(row *Row) bool { return row.Family.Key == family })
}

// BestOther returns the first row of a contender that is neither ours, nor a driver of SQLite, nor
// files.
func (p *Panel) BestOther() *Row {
	return p.firstOf(func(row *Row) bool { return !slices.Contains([]string{"ours", "sql", "files"}, row.Family.Key) })
}

func (p *Panel) firstOf(is func(row *Row) bool) *Row {
	if i := slices.IndexFunc(p.Rows, is); i >= 0 {
		return p.Rows[i]
	}
	return nil
}

// verdict says which contenders win how many cases of a question, for each group of durability.
func (q *Question) verdict() string {
	var clauses []string
	measured, few, sure := 0, 0, true
	for _, section := range q.Sections {
		panels := slices.DeleteFunc(slices.Clone(section.Panels), func(p *Panel) bool { return len(p.Rows) == 0 })
		if len(panels) == 0 {
			continue
		}
		if len(q.panels()) == 1 {
			return panels[0].Verdict
		}
		clauses = append(clauses, section.winners(panels))
		for _, p := range panels {
			measured++
			sure = sure && (len(p.Rows) == 1 || p.sure())
			if len(p.few()) > 0 {
				few++
			}
		}
	}
	switch {
	case measured == 0:
		return "There are no figures for this question."
	case !sure:
		clauses = append(clauses, "the samples are too few to be sure")
	case few > 0:
		clauses = append(clauses, fmt.Sprintf("fewer than %d samples in %d of %d cases", figure.Samples, few, measured))
	}
	return join(clauses)
}

// winners says which contender is first in how many cases of a section.
func (s *Section) winners(panels []*Panel) string {
	title := ""
	if s.Title != "" {
		title = s.Title + ": "
	}
	if len(panels) == 1 {
		return title + panels[0].lead()
	}
	wins, level := make(map[string]int), 0
	var order, parts []string
	for _, p := range panels {
		name := p.Rows[0].Contender.ID
		if wins[name]++; wins[name] == 1 {
			order = append(order, name)
		}
		if p.sure() && len(p.top()) > 1 {
			level++
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return wins[b] - wins[a] })
	for _, name := range order {
		parts = append(parts, fmt.Sprintf("%s is first in %d of %d cases", name, wins[name], len(panels)))
	}
	if level > 0 {
		parts = append(parts, fmt.Sprintf("level with others in %d", level))
	}
	return title + strings.Join(parts, ", ")
}

// verdict says which contender is faster on which file system, and by how much.
func (all *Systems) verdict(rows []*systemRow) string {
	rate := figure.All[0]
	var both []*systemRow
	var ps []float64
	sure, few := true, false
	for _, r := range rows {
		best, next := r.best()
		few = few || slices.ContainsFunc(r.on, func(row *Row) bool { return row != nil && row.Few() })
		if next != nil {
			sure = sure && figure.Enough(best.Rate.N, next.Rate.N)
			both, ps = append(both, r), append(ps, figure.P(rate.Values(best.Samples), rate.Values(next.Samples)))
		}
	}
	if len(both) == 0 {
		return "No contender has figures on more than one of them."
	}
	on, last := make([][]string, len(all.panels)+1), len(all.panels)
	for i, adjusted := range figure.Adjust(ps) {
		best, next := both[i].best()
		at, text := slices.Index(both[i].on, best), both[i].who.ID
		if sure && adjusted > figure.Alpha {
			at = last
		} else {
			text += " " + figure.Factor(best.Rate.Median/next.Rate.Median)
		}
		on[at] = append(on[at], text)
	}
	var clauses []string
	for i, list := range on {
		if len(list) == 0 {
			continue
		}
		title := "level"
		if i < last {
			title = "faster on " + all.Names[i].Name
		}
		clauses = append(clauses, title+": "+strings.Join(list, ", "))
	}
	switch {
	case !sure:
		clauses = append(clauses, "the samples are too few to be sure")
	case few:
		clauses = append(clauses, fmt.Sprintf("some of fewer than %d samples", figure.Samples))
	}
	return join(clauses)
}

// verdict says how much each contender gains from the first value to the last, the most first.
func (s *series) verdict(lines []chartLine) string {
	gain := func(l chartLine) float64 { return float64(l.Points[len(l.Points)-1][1] / l.Points[0][1]) }
	lines = slices.Clone(lines)
	slices.SortStableFunc(lines, func(a, b chartLine) int { return cmp.Compare(gain(b), gain(a)) })
	what := "the rate"
	if s.cost() {
		what = "the time per " + cmp.Or(s.panels[0].Case.Unit, "operation")
	}
	var parts []string
	for _, l := range lines {
		parts = append(parts, l.Name+" "+figure.Factor(gain(l)))
	}
	points := lines[0].Points
	from, to := plain(float64(points[0][0])), plain(float64(points[len(points)-1][0]))
	return fmt.Sprintf("From %s to %s %s, %s grows: %s.", figure.Thousands(from), figure.Thousands(to), s.over, what, strings.Join(parts, ", "))
}
