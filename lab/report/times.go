package report

import (
	"cmp"
	"maps"
	"slices"

	"github.com/foliofs/folio/lab/report/figure"
	"github.com/foliofs/folio/lab/result"
)

// A TimePanel says of a case where the time of its contenders goes: profiles and system calls, each of one process that is no
// sample, since looking slows it down.
type TimePanel struct {
	Title    string
	Profiles []*Profiles // by what they are of
	Calls    []Calls
}

// Profiles are those of one kind.
type Profiles struct {
	Title string
	Chart string
	Parts []Part
	Rows  []ProfileRow
}

// A Part is an area of profiles, and the number of its colour, which is the same in all charts.
type Part struct {
	Name   string `json:"name"`
	Colour int    `json:"colour"`
}

// partOf is the part of an area. One that package result does not know has the colour of what is other.
func partOf(name string) Part {
	i := slices.Index(result.Areas, name)
	if i < 0 {
		i = len(result.Areas) - 1
	}
	return Part{name, i + 1}
}

// A ProfileRow is the profile of a contender.
type ProfileRow struct {
	*result.Profile
	Text string // the total
	Path string // of its file, beside the page; "" if there is none
}

// Few reports whether a profile was made of so few samples that its shares are a guess.
func (r ProfileRow) Few() bool { return r.Samples < 100 }

// Calls are the system calls of a contender.
type Calls struct {
	*result.Trace
	Most []string // calls, those that were made most often first
}

// SyncsPerOp is how often something was synced for an operation.
func (c Calls) SyncsPerOp() string { return figure.Digits(float64(c.Syncs()) / float64(c.Ops)) }

// kinds of profiles, and the units of their totals.
var profileKinds = []struct {
	of, title string
	unit      figure.Unit
	scale     float64
}{
	{"cpu", "Processor time", figure.Nanoseconds, 1e9},
	{"alloc", "Allocated memory", figure.Bytes, 1},
}

// times are the panels of all cases of which there is something to say.
func (p *Page) times() (list []*TimePanel) {
	for _, q := range p.Questions {
		for _, panel := range q.panels() {
			t := &TimePanel{Title: q.Text}
			if panel.Title != "" {
				t.Title += " " + panel.Title
			}
			for _, kind := range profileKinds {
				if profiles := panel.profiles(p, kind.of, kind.title, kind.unit, kind.scale); profiles != nil {
					t.Profiles = append(t.Profiles, profiles)
				}
			}
			t.Calls = panel.calls()
			if len(t.Profiles)+len(t.Calls) > 0 {
				list = append(list, t)
			}
		}
	}
	return list
}

func (p *Panel) profiles(page *Page, of, title string, unit figure.Unit, scale float64) *Profiles {
	out := &Profiles{Title: title}
	chart := &stackChart{Kind: "stack"}
	for _, name := range result.Areas {
		if p.Run.hasArea(p.Case.ID, of, name) {
			chart.Parts = append(chart.Parts, partOf(name))
		}
	}
	for i := range p.Run.Profiles {
		profile := &p.Run.Profiles[i]
		if profile.Case != p.Case.ID || profile.Of != of {
			continue
		}
		row := ProfileRow{Profile: profile, Text: unit.Format(profile.Total * scale)}
		if _, to, ok := p.Run.profile(profile); ok {
			row.Path = to
		}
		out.Rows = append(out.Rows, row)
		chart.add(p.Run, row)
	}
	if len(out.Rows) == 0 {
		return nil
	}
	out.Parts = chart.Parts
	out.Chart = page.chart(p.ID+"-"+of, chart)
	return out
}

// hasArea reports whether a profile of a case has a share of an area.
func (r *Run) hasArea(caseID, of, name string) bool {
	return slices.ContainsFunc(r.Profiles, func(p result.Profile) bool {
		return p.Case == caseID && p.Of == of && slices.ContainsFunc(p.Areas, func(s result.Share) bool { return s.Name == name })
	})
}

// add takes a profile into the chart; areas that package result does not know make new parts.
func (c *stackChart) add(r *Run, row ProfileRow) {
	values := make([]short, len(c.Parts))
	for _, area := range row.Areas {
		i := slices.IndexFunc(c.Parts, func(p Part) bool { return p.Name == area.Name })
		if i < 0 {
			i = len(c.Parts)
			c.Parts, values = append(c.Parts, partOf(area.Name)), append(values, 0)
		}
		values[i] += short(area.Part)
	}
	family := "other"
	if who := r.Contender(row.Contender); who != nil {
		family = familyOf(who).Key
	}
	c.Rows = append(c.Rows, stackRow{row.Contender, family, row.Text, values})
}

func (p *Panel) calls() (list []Calls) {
	for i := range p.Run.Traces {
		t := &p.Run.Traces[i]
		if t.Case != p.Case.ID {
			continue
		}
		names := slices.SortedFunc(maps.Keys(t.Calls), func(a, b string) int {
			return cmp.Or(cmp.Compare(t.Calls[b], t.Calls[a]), cmp.Compare(a, b))
		})
		list = append(list, Calls{t, slices.DeleteFunc(names, func(name string) bool { return t.Calls[name] == 0 })})
	}
	return list
}
