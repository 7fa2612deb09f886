package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/foliofs/folio/lab/report/figure"
	"github.com/foliofs/folio/lab/result"
)

// A Panel shows a case.
type Panel struct {
	ID       string
	Run      *Run
	Case     *result.Case
	Title    string // "" where the question has no other case
	Folded   bool   // in the middle of a series that a chart shows
	Alone    bool   // it is the only case, so the question's verdict is enough
	Verdict  string
	Command  string
	Rows     []*Row // the best first
	Columns  []Column
	Families []Family
	Absent   []string // contenders without figures here, and why
	Bars     string   // elements that show charts; "" if there is nothing to draw
	Curves   string
	Courses  []Course
}

// A Row is a contender in a case.
type Row struct {
	Contender *result.Contender
	Family    Family
	Samples   []*result.Sample
	Rate      figure.Estimate
	Behind    float64 // times the rate that the first has, from 1
	P         float64 // of the difference from the first, corrected for the number of contenders
	Level     bool    // with the first, as far as these samples tell
	Cells     []Cell  // one for each column
}

// First reports whether a row is the first, or level with it.
func (r *Row) First() bool { return r.Behind == 1 || r.Level }

// Near is the rate in hundredths of the first's.
func (r *Row) Near() int { return int(100 / r.Behind) }

// Few reports whether a row has fewer samples than it should.
func (r *Row) Few() bool { return r.Rate.N < figure.Samples }

// Count says how many they are.
func (r *Row) Count() string { return figure.Count(r.Rate.N) }

// A Column is a figure of all rows.
type Column struct {
	Title string
	Wide  bool // it has intervals
}

// A Cell is a figure of a row.
type Cell struct {
	Text  string // "" where it is not known
	Range string
}

func newPanel(r *Run, c *result.Case) *Panel {
	p := &Panel{Run: r, Case: c, Command: Command(r.Set, c)}
	for _, who := range r.In(c.ID) {
		row := &Row{Contender: who, Family: familyOf(who), Samples: r.Of(c.ID, who.ID)}
		if e, ok := figure.Of(figure.All[0].Values(row.Samples)); ok && e.Median > 0 {
			row.Rate = e
			p.Rows = append(p.Rows, row)
			p.Families = append(p.Families, row.Family)
		} else {
			p.Absent = append(p.Absent, who.ID+": its samples hold no figures")
		}
	}
	slices.SortStableFunc(p.Rows, func(a, b *Row) int { return cmp.Compare(b.Rate.Median, a.Rate.Median) })
	p.Families = sortFamilies(p.Families)
	p.rank()
	p.absent()
	return p
}

// rank compares every row with the first.
func (p *Panel) rank() {
	if len(p.Rows) == 0 {
		return
	}
	rate, first := figure.All[0], p.Rows[0]
	best := rate.Values(first.Samples)
	var ps []float64
	for _, row := range p.Rows[1:] {
		ps = append(ps, figure.P(best, rate.Values(row.Samples)))
	}
	first.Behind, first.P = 1, 1
	for i, adjusted := range figure.Adjust(ps) {
		row := p.Rows[i+1]
		row.Behind, row.P = first.Rate.Median/row.Rate.Median, adjusted
		row.Level = adjusted > figure.Alpha && figure.Enough(first.Rate.N, row.Rate.N)
	}
}

// sure reports whether the samples are enough to tell contenders apart.
func (p *Panel) sure() bool {
	for _, row := range p.Rows {
		if !figure.Enough(row.Rate.N, p.Rows[0].Rate.N) {
			return false
		}
	}
	return true
}

// Ranges reports whether a row has too few samples for an interval.
func (p *Panel) Ranges() bool {
	return slices.ContainsFunc(p.Rows, func(row *Row) bool { return !row.Rate.Interval })
}

// few are the rows with fewer samples than they should have.
func (p *Panel) few() (list []*Row) {
	return slices.DeleteFunc(slices.Clone(p.Rows), func(row *Row) bool { return !row.Few() })
}

// absent lists the contenders that took part in the run but not here, by reasons.
func (p *Panel) absent() {
	for i := range p.Run.Failures {
		if f := &p.Run.Failures[i]; f.Case == p.Case.ID {
			p.Absent = append(p.Absent, f.Contender+" failed: "+f.Error)
		}
	}
	for _, skips := range grouped(p.Run.Skips, func(s result.Skip) (string, bool) {
		return s.Reason, s.Case == p.Case.ID || s.Case == "" && s.Workload == p.Case.Workload
	}) {
		var who []string
		for _, s := range skips {
			who = append(who, s.Contender)
		}
		p.Absent = append(p.Absent, strings.Join(who, ", ")+": "+skips[0].Reason)
	}
}

// finish makes the table, the sentence and the charts.
func (p *Panel) finish(page *Page) {
	if len(p.Rows) == 0 {
		p.Verdict = "There are no figures for this case."
		return
	}
	p.table()
	p.Verdict = p.verdict()
	p.draw(page)
}

// table fills the columns that say something.
func (p *Panel) table() {
	for i, f := range figure.All {
		p.column(f.TitleOf(cmp.Or(p.Case.Unit, "operation")), i == 0, f.Name == "busy" || f.Name == "log", func(row *Row) (figure.Estimate, bool) {
			return figure.Of(f.Values(row.Samples))
		}, f.Unit)
		if f.Name == "written" {
			p.column("syncs "+perUnit(p.Case), false, false, p.syncs, figure.Number)
		}
	}
	for _, name := range p.series(func(values []float64) bool { return len(values) == 1 }) {
		p.column(strings.ReplaceAll(name, "_", " "), false, false, func(row *Row) (figure.Estimate, bool) {
			return figure.Of(seriesAt(row.Samples, name, 0))
		}, figure.Number)
	}
}

// column adds a column, unless no row has its figure or, if it is optional, it is 0 in all rows.
func (p *Panel) column(title string, wide, optional bool, of func(row *Row) (figure.Estimate, bool), unit figure.Unit) {
	cells, says := make([]Cell, len(p.Rows)), false
	for i, row := range p.Rows {
		e, ok := of(row)
		if !ok {
			continue
		}
		cells[i] = Cell{Text: unit.Format(e.Median), Range: unit.Format(e.Lo) + " – " + unit.Format(e.Hi)}
		says = says || !optional || e.Hi > 0
	}
	if !says {
		return
	}
	p.Columns = append(p.Columns, Column{title, wide})
	for i, row := range p.Rows {
		row.Cells = append(row.Cells, cells[i])
	}
}

func perUnit(c *result.Case) string { return "a " + cmp.Or(c.Unit, "operation") }

// syncs returns the syncs per operation of the one process that was traced.
func (p *Panel) syncs(row *Row) (figure.Estimate, bool) {
	if t := p.Run.Trace(p.Case.ID, row.Contender.ID); t != nil && t.Ops > 0 {
		return figure.Of([]float64{float64(t.Syncs()) / float64(t.Ops)})
	}
	return figure.Estimate{}, false
}

// series returns the names of the samples' series that are wanted.
func (p *Panel) series(want func(values []float64) bool) (names []string) {
	for _, row := range p.Rows {
		for _, m := range row.Samples {
			for name, values := range m.Series {
				if want(values) && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// seriesAt are the values of all samples at one place of a series.
func seriesAt(samples []*result.Sample, name string, i int) (values []float64) {
	for _, m := range samples {
		if s := m.Series[name]; i < len(s) {
			values = append(values, s[i])
		}
	}
	return values
}
