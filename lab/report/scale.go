package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/foliofs/folio/lab/report/figure"
	"github.com/foliofs/folio/lab/result"
)

// A Scale shows cases that differ in one number only: for example, how rates grow with goroutines,
// or the time per operation as a store grows.
type Scale struct {
	Title   string
	Verdict string
	Chart   string
	Lines   int
}

// A series is the cases of a scale.
type series struct {
	over   string // the parameter
	panels []*Panel
}

// scales finds the series among the cases of a section, which may be of several runs on one
// machine.
func scales(page *Page, s *Section, id string) (list []*Scale) {
	for _, name := range numbers(s.Panels) {
		for _, panels := range grouped(s.Panels, func(p *Panel) (string, bool) {
			_, ok := number(p.Case, name)
			return rest(p, name), ok && len(p.Rows) > 0 && (!p.Folded || p.Case.Axis == name)
		}) {
			all := series{name, panels}
			if scale := all.scale(page, fmt.Sprintf("%sx%d", id, len(list)+1)); scale != nil {
				list = append(list, scale)
			}
		}
	}
	return list
}

// grouped groups the items that have a key, in the order in which the keys come first.
func grouped[T any, K comparable](list []T, key func(T) (k K, ok bool)) (groups [][]T) {
	index := make(map[K]int)
	for _, item := range list {
		k, ok := key(item)
		if !ok {
			continue
		}
		if _, ok := index[k]; !ok {
			index[k], groups = len(groups), append(groups, nil)
		}
		groups[index[k]] = append(groups[index[k]], item)
	}
	return groups
}

// fold marks the cases in the middle of a series: the chart over it shows enough of them.
func (s *Section) fold() {
	for _, panels := range grouped(s.Panels, func(p *Panel) (string, bool) {
		_, ok := number(p.Case, p.Case.Axis)
		return rest(p, p.Case.Axis), ok
	}) {
		at := func(p *Panel) float64 {
			x, _ := number(p.Case, p.Case.Axis)
			return x
		}
		compare := func(a, b *Panel) int { return cmp.Compare(at(a), at(b)) }
		least, most := slices.MinFunc(panels, compare), slices.MaxFunc(panels, compare)
		for _, p := range panels {
			p.Folded = p != least && p != most
		}
	}
}

// numbers are the parameters that are numbers, and not the same in all cases.
func numbers(panels []*Panel) (names []string) {
	different := varied(panels)
	for _, p := range panels {
		for _, param := range p.Case.All() {
			if different[param.Name] && isNumber(param.Value) && !slices.Contains(names, param.Name) {
				names = append(names, param.Name)
			}
		}
	}
	return names
}

func number(c *result.Case, name string) (float64, bool) {
	x, err := strconv.ParseFloat(c.Param(name), 64)
	return x, err == nil && x > 0
}

// rest returns all that must be the same for a chart over one parameter: the other parameters, the
// file system, the machine.
func rest(p *Panel, name string) string {
	var parts []string
	for _, param := range p.Case.All() {
		if param.Name != name {
			parts = append(parts, param.Name+"="+param.Value)
		}
	}
	slices.Sort(parts)
	m := p.Run.Run.Machine
	return strings.Join(append(parts, p.Case.Workload, p.Case.Dir, m.OS, m.Arch, m.CPU, strconv.Itoa(m.Cores)), "\x00")
}

// scale charts a series: rates over a parameter that scales, and the time per operation over a
// size. It returns nil if no contender has two points.
func (s *series) scale(page *Page, id string) *Scale {
	slices.SortStableFunc(s.panels, func(a, b *Panel) int {
		x, _ := number(a.Case, s.over)
		y, _ := number(b.Case, s.over)
		return cmp.Compare(x, y)
	})
	lines := s.lines()
	if len(lines) == 0 {
		return nil
	}
	first := s.panels[0].Case
	y := axis{perSecond(first), string(figure.Number), false}
	if s.cost() {
		y = axis{"time per " + cmp.Or(first.Unit, "operation"), string(figure.Nanoseconds), false}
	}
	y.Log = logarithmicLines(lines)
	out := &Scale{Title: s.title(), Verdict: s.verdict(lines), Lines: len(lines)}
	out.Chart = page.chart(id, &lineChart{"lines", axis{s.over, string(figure.Number), true}, y, lines})
	return out
}

// cost reports whether the chart shows the time per operation, and not rates. That is so over all
// parameters except the one that scales.
func (s *series) cost() bool { return s.panels[0].Case.Axis != s.over }

// lines returns the lines of the contenders that have more than one point. Another version is
// another contender.
func (s *series) lines() (lines []chartLine) {
	index := make(map[[2]string]int)
	for _, p := range s.panels {
		x, _ := number(p.Case, s.over)
		for _, row := range p.Rows {
			key := [2]string{row.Contender.ID, row.Contender.ModuleVersion}
			i, ok := index[key]
			if !ok {
				i = len(lines)
				index[key], lines = i, append(lines, chartLine{Name: row.Contender.ID, Family: row.Family.Key})
			}
			y := row.Rate.Median
			if s.cost() {
				y = 1e9 / y
			}
			if n := len(lines[i].Points); n == 0 || lines[i].Points[n-1][0] != short(x) {
				lines[i].Points = append(lines[i].Points, [2]short{short(x), short(y)})
			}
		}
	}
	return slices.DeleteFunc(lines, func(l chartLine) bool { return len(l.Points) < 2 })
}

// title returns the parameters that the cases have in common, among those that tell the cases of
// the question apart.
func (s *series) title() string {
	what := "Scaling over "
	if s.cost() {
		what = "Cost over "
	}
	last := s.panels[len(s.panels)-1]
	x, _ := number(last.Case, s.over)
	here := Phrase(result.Param{Name: s.over, Value: plain(x)})
	var parts []string
	for part := range strings.SplitSeq(last.Title, ", ") {
		if part != here && part != last.Run.Label {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return what + s.over
	}
	return what + s.over + ": " + strings.Join(parts, ", ")
}

// plain writes a number without an exponent.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
