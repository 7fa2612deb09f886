package report

import (
	"fmt"
	"maps"

	"github.com/foliofs/folio/lab/report/figure"
)

// Systems are the panels of a case on several file systems, in a table side by side. They are of
// one section, so all promise the same.
type Systems struct {
	Title string
	Names []string
	Rows  []systemRow

	panels []*Panel // one for each name
}

// A systemRow is a contender on each file system.
type systemRow struct {
	Contender string
	Family    Family
	Cells     []systemCell
}

// A systemCell is its rate there, compared with the rate on the first; "" if it has no figures.
type systemCell struct{ Text, Ratio string }

// dirParam is the parameter that tells the directories of a run apart.
const dirParam = "dir"

// systems finds the cases of a section that differ in the directory only.
func systems(s *Section, varied map[string]bool, runs bool) (list []*Systems) {
	type key struct {
		run  *Run
		rest string
	}
	byRest := make(map[key]*Systems)
	var order []*Systems
	for _, p := range s.Panels {
		if p.Case.Param(dirParam) == "" || len(p.Rows) == 0 {
			continue
		}
		k := key{p.Run, p.Case.Without(dirParam)}
		if byRest[k] == nil {
			byRest[k] = &Systems{}
			order = append(order, byRest[k])
		}
		byRest[k].panels = append(byRest[k].panels, p)
	}
	others := maps.Clone(varied)
	delete(others, dirParam)
	for _, all := range order {
		if len(all.panels) > 1 {
			all.fill(others, runs)
			list = append(list, all)
		}
	}
	return list
}

// fill makes the table: a row for each contender, in the order in which the first panels have them.
func (all *Systems) fill(others map[string]bool, runs bool) {
	all.Title = all.panels[0].title(others, runs)
	first, place := make(map[string]*Row), make(map[string]int)
	for i, p := range all.panels {
		all.Names = append(all.Names, p.Case.Param(dirParam))
		for _, row := range p.Rows {
			id := row.Contender.ID
			if first[id] == nil {
				first[id], place[id] = row, len(all.Rows)
				all.Rows = append(all.Rows, systemRow{id, row.Family, make([]systemCell, len(all.panels))})
			}
			cell := systemCell{Text: figure.Number.Format(row.Rate.Median)}
			if row != first[id] {
				cell.Ratio = ratio(first[id], row)
			}
			all.Rows[place[id]].Cells[i] = cell
		}
	}
}

// ratio says how many times the rate of a row another one has, with a sign if it is none.
func ratio(from, to *Row) string {
	rate := figure.All[0]
	p := figure.P(rate.Values(from.Samples), rate.Values(to.Samples))
	text := fmt.Sprintf("%.2f×", to.Rate.Median/from.Rate.Median)
	if sign := signOf(p, from.Rate.N, to.Rate.N); sign != Slower {
		text = string(sign) + " " + text
	}
	return text
}
