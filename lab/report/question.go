package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/foliofs/folio/lab/result"
)

// A Question is a question that cases answer.
type Question struct {
	ID       string
	Text     string
	Verdict  string
	Repeats  string // the public experiment, or ""
	Told     []string
	Fixed    []result.Param // the same in all cases
	Sections []*Section     // by groups of durability
}

// A Section is the part of a question that has one promise.
type Section struct {
	Group   result.Group
	Title   string // "" where there is nothing to promise
	Note    string
	Panels  []*Panel
	Systems []*Systems
	Scales  []*Scale
}

// groups explain the promises, the weakest first.
var groups = []struct {
	group       result.Group
	title, note string
}{
	{result.GroupRead, "reading", ""},
	{result.GroupNone, "no sync", "Nothing is synced: the loss of power may leave anything."},
	{result.GroupConsistent, "log-consistent", "The loss of power leaves something consistent, perhaps without the last commits."},
	{result.GroupDurable, "durable", "Every acknowledged commit survives the loss of power."},
}

func groupTitle(g result.Group) string {
	if i := groupRank(g); i < len(groups) {
		return groups[i].title
	}
	return cmp.Or(string(g), "no group of durability")
}

func groupRank(g result.Group) int {
	for i, known := range groups {
		if known.group == g {
			return i
		}
	}
	return len(groups)
}

// add takes a case of a run.
func (q *Question) add(r *Run, c *result.Case) {
	q.Repeats = cmp.Or(q.Repeats, c.Repeats)
	if c.Description != "" && !slices.Contains(q.Told, c.Description) {
		q.Told = append(q.Told, c.Description)
	}
	q.section(c.Group).Panels = append(q.section(c.Group).Panels, newPanel(r, c))
}

func (q *Question) section(g result.Group) *Section {
	for _, s := range q.Sections {
		if s.Group == g {
			return s
		}
	}
	s := &Section{Group: g}
	if g != result.GroupRead {
		s.Title = groupTitle(g)
	}
	if i := groupRank(g); i < len(groups) {
		s.Note = groups[i].note
	}
	q.Sections = append(q.Sections, s)
	slices.SortStableFunc(q.Sections, func(a, b *Section) int { return cmp.Compare(groupRank(a.Group), groupRank(b.Group)) })
	return s
}

// panels returns the panels of all sections.
func (q *Question) panels() (list []*Panel) {
	for _, s := range q.Sections {
		list = append(list, s.Panels...)
	}
	return list
}

// Measured reports whether a case has figures.
func (q *Question) Measured() bool {
	return slices.ContainsFunc(q.panels(), func(p *Panel) bool { return len(p.Rows) > 0 })
}

// finish adds the parts that need all cases: titles, verdict and charts.
func (q *Question) finish(p *Page) {
	panels := q.panels()
	varied := varied(panels)
	runs := slices.ContainsFunc(panels, func(p *Panel) bool { return p.Run != panels[0].Run })
	for _, param := range panels[0].Case.Fixed {
		if !varied[param.Name] {
			q.Fixed = append(q.Fixed, param)
		}
	}
	for i, panel := range panels {
		panel.ID = fmt.Sprintf("%sc%d", q.ID, i+1)
		panel.Title = panel.title(varied, runs)
		panel.Alone = len(panels) == 1
		panel.finish(p)
		if len(panel.Rows) > 0 {
			p.Glance = append(p.Glance, panel)
		}
	}
	for i, s := range q.Sections {
		s.fold()
		s.Systems = systems(p, s, varied, runs, fmt.Sprintf("%ss%d", q.ID, i+1))
		s.Scales = scales(p, s, fmt.Sprintf("%ss%d", q.ID, i+1))
	}
	q.Verdict = q.verdict()
}

// varied returns the parameters that tell the cases of a question apart, except durability, which
// tells the sections apart.
func varied(panels []*Panel) map[string]bool {
	values, out := make(map[string]string), make(map[string]bool)
	for _, panel := range panels {
		for _, p := range panel.Case.All() {
			if first, ok := values[p.Name]; ok && first != p.Value {
				out[p.Name] = true
			}
			values[p.Name] = p.Value
		}
	}
	delete(out, "durability")
	return out
}

// title returns the parameters that tell a case from the other cases of its question.
func (p *Panel) title(varied map[string]bool, runs bool) string {
	var parts []string
	for _, param := range p.Case.All() {
		if varied[param.Name] {
			parts = append(parts, Phrase(param))
		}
	}
	if runs {
		parts = append(parts, p.Run.Label)
	}
	title := strings.Join(parts, ", ")
	return strings.ToUpper(title[:min(1, len(title))]) + title[min(1, len(title)):]
}

// Name is the title with the promise, for the overview.
func (p *Panel) Name() string {
	var parts []string
	if p.Case.Group != result.GroupRead {
		parts = append(parts, groupTitle(p.Case.Group))
	}
	if p.Title != "" {
		parts = append(parts, p.Title)
	}
	if len(parts) == 2 {
		parts[1] = strings.ToLower(parts[1][:1]) + parts[1][1:]
	}
	return cmp.Or(strings.Join(parts, ", "), "its one case")
}
