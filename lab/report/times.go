package report

import (
	"cmp"
	"maps"
	"slices"

	"github.com/foliofs/folio/lab/report/figure"
	"github.com/foliofs/folio/lab/result"
)

// A TimePanel shows where the time of a case's contenders goes: profiles and system calls. Each is
// of one process that is no sample, because profiling slows it down.
type TimePanel struct {
	Title    string
	Profiles []*Profiles // of the processor, and of allocations
	Calls    []Calls
}

// Profiles are the profiles of one kind.
type Profiles struct {
	Title string
	Rows  []ProfileRow
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
				if profiles := panel.profiles(kind.of, kind.title, kind.unit, kind.scale); profiles != nil {
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

func (p *Panel) profiles(of, title string, unit figure.Unit, scale float64) *Profiles {
	out := &Profiles{Title: title}
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
	}
	if len(out.Rows) == 0 {
		return nil
	}
	return out
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
