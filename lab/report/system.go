package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/foliofs/folio/lab/result"
)

// Systems are the panels of a case on several file systems: one chart shows them side by side. They
// are of one section, so all promise the same.
type Systems struct {
	Title   string
	Verdict string
	Chart   string
	Names   []Part // with their colours
	Rows    int

	panels []*Panel // one for each name
}

// A Part is a file system, and the number of its colour, which is the same in all charts.
type Part struct {
	Name   string `json:"name"`
	Colour int    `json:"colour"`
}

// systemColours are the colours of file systems. No family of contenders has one of them.
var systemColours = []int{4, 8, 10, 9, 11, 7}

// dirParam is the parameter that tells the directories of a run apart.
const dirParam = "dir"

// systems finds the cases of a section that differ in the directory only.
func systems(page *Page, s *Section, varied map[string]bool, runs bool, id string) (list []*Systems) {
	type key struct {
		run  *Run
		rest string
	}
	for _, panels := range grouped(s.Panels, func(p *Panel) (key, bool) {
		return key{p.Run, p.Case.Without(dirParam)}, p.Case.Param(dirParam) != "" && len(p.Rows) > 0
	}) {
		if len(panels) > 1 {
			all := &Systems{panels: panels}
			list = append(list, all)
			all.finish(page, varied, runs, fmt.Sprintf("%sd%d", id, len(list)))
		}
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

// rows returns the rows of all contenders, the fastest first.
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
	slices.SortStableFunc(rows, func(a, b *systemRow) int {
		first, _ := a.best()
		other, _ := b.best()
		return cmp.Compare(other.Rate.Median, first.Rate.Median)
	})
	return rows
}

// best returns the row of the system on which the contender is fastest, and the row of the next
// system; nil if there is none.
func (r *systemRow) best() (first, next *Row) {
	rows := slices.DeleteFunc(slices.Clone(r.on), func(row *Row) bool { return row == nil })
	slices.SortStableFunc(rows, func(a, b *Row) int { return cmp.Compare(b.Rate.Median, a.Rate.Median) })
	if len(rows) > 1 {
		next = rows[1]
	}
	return rows[0], next
}

// A groupChart has a group of bars for each contender, one for each file system.
type (
	groupChart struct {
		Kind  string     `json:"kind"` // "groups"
		Unit  string     `json:"unit"` // of the values: "insert/s"
		Log   bool       `json:"log"`
		Parts []Part     `json:"parts"` // the systems
		Rows  []groupRow `json:"rows"`
	}
	groupRow struct {
		Name   string `json:"name"`
		Family string `json:"family"`
		Bars   []*bar `json:"bars"` // one for each system; null where there are no figures
	}
)

func (all *Systems) chart(rows []*systemRow) *groupChart {
	c := &groupChart{Kind: "groups", Unit: perSecond(all.panels[0].Case), Parts: all.Names}
	var values []float64
	for _, r := range rows {
		row := groupRow{Name: r.who.ID, Family: r.family.Key, Bars: make([]*bar, len(r.on))}
		for i, on := range r.on {
			if on != nil {
				b := on.bar()
				values, row.Bars[i] = append(values, on.Rate.Median), &b
			}
		}
		c.Rows = append(c.Rows, row)
	}
	c.Log = logarithmic(values)
	return c
}
