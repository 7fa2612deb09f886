package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/foliofs/folio/lab/report/figure"
	"github.com/foliofs/folio/lab/result"
)

// Systems are the panels of a case on several file systems: one chart shows them side by side. They are of one section, so all promise the same.
type Systems struct {
	Title   string
	Verdict Sentence
	Chart   string
	Names   []Part // with their colours
	Rows    int

	panels []*Panel // one for each name
}

// systemColours are those of file systems: none of a contender's family.
var systemColours = []int{4, 8, 10, 9, 11, 7}

// dirParam is the parameter that tells the directories of a run apart.
const dirParam = "dir"

// systems finds the cases of a section that differ in the directory only.
func systems(page *Page, s *Section, varied map[string]bool, runs bool, id string) (list []*Systems) {
	type key struct {
		run  *Run
		rest string
	}
	byRest := make(map[key]*Systems)
	for _, p := range s.Panels {
		if p.Case.Param(dirParam) == "" || len(p.Rows) == 0 {
			continue
		}
		k := key{p.Run, p.Case.Without(dirParam)}
		if byRest[k] == nil {
			byRest[k] = &Systems{}
			list = append(list, byRest[k])
		}
		byRest[k].panels = append(byRest[k].panels, p)
	}
	list = slices.DeleteFunc(list, func(all *Systems) bool { return len(all.panels) < 2 })
	for i, all := range list {
		all.finish(page, varied, runs, fmt.Sprintf("%sd%d", id, i+1))
	}
	return list
}

// finish names and draws them.
func (all *Systems) finish(page *Page, varied map[string]bool, runs bool, id string) {
	var names []string
	for i, p := range all.panels {
		name := p.Case.Param(dirParam)
		names = append(names, name)
		all.Names = append(all.Names, Part{name, systemColours[i%len(systemColours)]})
	}
	others := maps.Clone(varied)
	delete(others, dirParam)
	all.Title = enumerate(names) + " side by side"
	if rest := all.panels[0].title(others, runs); rest != "" {
		all.Title = rest + ": " + all.Title
	}
	rows := all.rows()
	all.Rows = len(rows)
	all.Verdict = all.verdict(rows)
	all.Chart = page.chart(id, all.chart(rows))
}

// enumerate lists names: "a, b and c".
func enumerate(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// A systemRow is a contender on several file systems.
type systemRow struct {
	who    *result.Contender
	family Family
	on     []*Row // one for each system; nil where it has no figures
}

// rows are those of all contenders, the fastest first.
func (all *Systems) rows() (rows []*systemRow) {
	byID := make(map[string]*systemRow)
	for i, p := range all.panels {
		for _, row := range p.Rows {
			r := byID[row.Contender.ID]
			if r == nil {
				r = &systemRow{row.Contender, row.Family, make([]*Row, len(all.panels))}
				byID[row.Contender.ID] = r
				rows = append(rows, r)
			}
			r.on[i] = row
		}
	}
	slices.SortStableFunc(rows, func(a, b *systemRow) int { return cmp.Compare(b.best().Rate.Median, a.best().Rate.Median) })
	return rows
}

// best is the row of the system on which the contender is fastest.
func (r *systemRow) best() *Row {
	return slices.MaxFunc(r.on, func(a, b *Row) int { return cmp.Compare(rateOf(a), rateOf(b)) })
}

// next is that of the system after the best; nil if there is none.
func (r *systemRow) next() *Row {
	best := r.best()
	rest := slices.DeleteFunc(slices.Clone(r.on), func(row *Row) bool { return row == best || row == nil })
	if len(rest) == 0 {
		return nil
	}
	return slices.MaxFunc(rest, func(a, b *Row) int { return cmp.Compare(rateOf(a), rateOf(b)) })
}

func rateOf(r *Row) float64 {
	if r == nil {
		return -1
	}
	return r.Rate.Median
}

// verdict says who is faster where.
func (all *Systems) verdict(rows []*systemRow) (s Sentence) {
	rate := figure.All[0]
	var both []*systemRow
	var ps []float64
	sure, few := true, false
	for _, r := range rows {
		best, next := r.best(), r.next()
		few = few || slices.ContainsFunc(r.on, func(row *Row) bool { return row != nil && row.Few() })
		if next == nil {
			continue
		}
		sure = sure && figure.Enough(best.Rate.N, next.Rate.N)
		both = append(both, r)
		ps = append(ps, figure.P(rate.Values(best.Samples), rate.Values(next.Samples)))
	}
	if len(both) == 0 {
		return plain("No contender has figures on more than one of them.")
	}
	ps = figure.Adjust(ps)
	faster, level := make([][]*systemRow, len(all.panels)), []string(nil)
	for i, r := range both {
		if sure && ps[i] > figure.Alpha {
			level = append(level, r.who.ID)
			continue
		}
		at := slices.Index(r.on, r.best())
		faster[at] = append(faster[at], r)
	}
	for i, list := range faster {
		s.faster(list, all.Names[i].Name)
	}
	if len(level) > 0 {
		s.semicolon()
		s.names(level)
		s.add(" %s level", are(len(level)))
	}
	switch {
	case !sure:
		s.add("; the samples are too few to be sure")
	case few:
		s.add("; of fewer than %d samples in places", figure.Samples)
	}
	s.add(".")
	return s
}

// faster says of contenders that they are so on a system, and by how much.
func (s *Sentence) faster(list []*systemRow, system string) {
	if len(list) == 0 {
		return
	}
	times := func(r *systemRow) float64 { return r.best().Rate.Median / r.next().Rate.Median }
	slices.SortStableFunc(list, func(a, b *systemRow) int { return cmp.Compare(times(b), times(a)) })
	var names []string
	for _, r := range list {
		names = append(names, r.who.ID)
	}
	s.semicolon()
	s.names(names)
	by := figure.Factor(times(list[0]))
	if least := times(list[len(list)-1]); len(list) > 1 && figure.Digits(least) != figure.Digits(times(list[0])) {
		by = figure.Digits(least) + " to " + by
	}
	s.add(" %s faster on %s, %s", are(len(list)), system, by)
}

// semicolon parts what follows from what was said, if anything was.
func (s *Sentence) semicolon() {
	if len(*s) > 0 {
		s.add("; ")
	}
}

// A groupChart has a group of bars for each contender, one for each file system.
type (
	groupChart struct {
		Kind  string     `json:"kind"` // "groups"
		Unit  string     `json:"unit"` // of the values: "inserts a second"
		Log   bool       `json:"log"`
		Parts []Part     `json:"parts"` // the systems
		Rows  []groupRow `json:"rows"`
	}
	groupRow struct {
		Name   string      `json:"name"`
		Family string      `json:"family"`
		Bars   []*groupBar `json:"bars"` // one for each system; null where there are no figures
	}
	groupBar struct {
		Value short  `json:"value"`
		Lo    short  `json:"lo"`
		Hi    short  `json:"hi"`
		Text  string `json:"text"`
		Range string `json:"range"`
	}
)

func (all *Systems) chart(rows []*systemRow) *groupChart {
	c := &groupChart{Kind: "groups", Unit: plural(all.panels[0].Case.Unit) + " a second", Parts: all.Names}
	var values []float64
	for _, r := range rows {
		row := groupRow{Name: r.who.ID, Family: r.family.Key, Bars: make([]*groupBar, len(r.on))}
		for i, on := range r.on {
			if on == nil {
				continue
			}
			e := on.Rate
			values = append(values, e.Median)
			row.Bars[i] = &groupBar{short(e.Median), short(e.Lo), short(e.Hi), figure.Number.Format(e.Median), rangeOf(e, figure.Number)}
		}
		c.Rows = append(c.Rows, row)
	}
	c.Log = logarithmic(values)
	return c
}
