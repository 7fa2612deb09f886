package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/foliofs/folio/lab/result"
)

// A Page is the data of the template.
type Page struct {
	Made      time.Time
	Runs      []*Run
	Questions []*Question
	Glance    []*Panel // that have figures, in the order of the questions
	Families  []Family // of all contenders
	Times     []*TimePanel
	Charts    map[string]any // the data of the script, by the element's name
}

// A Run is one result file.
type Run struct {
	*result.Set
	Base     string // of the files next to the page
	Dir      string // of the result file
	Label    string // tells it from other labels; "" if it is alone
	Settings []*Settings
	Skipped  []*Skipped
}

// An Input is a result file that was read.
type Input struct {
	Base string // its name without the extension
	Dir  string // in which it lies, and its profiles; "" if that is not known
	Set  *result.Set
}

// New makes a page of result files.
func New(made time.Time, inputs []Input) *Page {
	p := &Page{Made: made, Charts: make(map[string]any)}
	for i, in := range inputs {
		r := &Run{Set: in.Set, Base: in.Base, Dir: in.Dir, Settings: settings(in.Set), Skipped: skipped(in.Set)}
		if len(inputs) > 1 {
			r.Label = fmt.Sprintf("run %d", i+1)
		}
		p.Runs = append(p.Runs, r)
	}
	p.ask()
	p.Times = p.times()
	p.Families = families(p.Runs)
	return p
}

// ask groups the cases of all runs by their questions, in the order in which they come.
func (p *Page) ask() {
	byText := make(map[string]*Question)
	for _, r := range p.Runs {
		for i := range r.Cases {
			c := &r.Cases[i]
			text := cmp.Or(c.Question, "What does the workload "+c.Workload+" say?")
			q := byText[text]
			if q == nil {
				q = &Question{ID: fmt.Sprintf("q%d", len(p.Questions)+1), Text: text}
				byText[text] = q
				p.Questions = append(p.Questions, q)
			}
			q.add(r, c)
		}
	}
	for _, q := range p.Questions {
		q.finish(p)
	}
}

// chart registers the data of a chart, and returns the name of the element that shows it.
func (p *Page) chart(name string, data any) string {
	p.Charts[name] = data
	return name
}

// A Family is a kind of contenders, which have a colour in common.
type Family struct{ Key, Title string }

// allFamilies are in the order of legends. Their keys are kinds of contenders, except the first and
// the last.
var allFamilies = []Family{
	{"ours", "Folio"},
	{string(result.KindSQL), "SQLite drivers"},
	{string(result.KindVolume), "file systems in SQLite"},
	{string(result.KindKV), "stores of keys and values"},
	{string(result.KindServer), "database servers"},
	{string(result.KindFiles), "files"},
	{"other", "others"},
}

// familyOf returns the family of a contender. All of ours are one family.
func familyOf(c *result.Contender) Family {
	if c.Ours {
		return allFamilies[0]
	}
	for _, f := range allFamilies {
		if f.Key == string(c.Kind) {
			return f
		}
	}
	return allFamilies[len(allFamilies)-1]
}

func sortFamilies(list []Family) []Family {
	slices.SortFunc(list, func(a, b Family) int { return slices.Index(allFamilies, a) - slices.Index(allFamilies, b) })
	return slices.Compact(list)
}

func families(runs []*Run) []Family {
	var list []Family
	for _, r := range runs {
		for i := range r.Contenders {
			list = append(list, familyOf(&r.Contenders[i]))
		}
	}
	return sortFamilies(list)
}

// source returns the version of a contender's library. A library in the project itself has the
// project's version.
func source(c *result.Contender) string {
	if strings.HasPrefix(c.ModuleVersion, "v0.0.0-00010101000000") {
		return "of this project"
	}
	return c.ModuleVersion
}

// rules explain the kinds of failures.
var rules = map[result.FailureKind]string{
	result.FailureWrong:    "rule 7: it gave a wrong answer",
	result.FailureSettings: "rules 1 to 5: its settings were wrong, or it changed a shared database",
	result.FailureCrash:    "it crashed",
	result.FailureHang:     "it did not end",
	result.FailureGarbage:  "it did not keep to the protocol",
	result.FailureError:    "it said that it failed",
}

// Skipped says where a contender was skipped for one reason.
type Skipped struct {
	Contender, Where, Reason string
}

// skipped lists the skipped contenders, once for each reason.
func skipped(s *result.Set) (list []*Skipped) {
	type key struct{ contender, reason string }
	for _, skips := range grouped(s.Skips, func(s result.Skip) (key, bool) { return key{s.Contender, s.Reason}, true }) {
		var where []string
		for _, skip := range skips {
			if place := cmp.Or(skip.Workload, "everything"); !slices.Contains(where, place) {
				where = append(where, place)
			}
		}
		list = append(list, &Skipped{skips[0].Contender, strings.Join(where, ", "), skips[0].Reason})
	}
	return list
}

// Settings are equal answers of the connections of several contenders.
type Settings struct {
	Case   string   // the first case with them; cases of the same workload and group have the same
	Who    []string // contenders
	Values map[string]string
}

// settings lists the settings in force, once for each workload and group.
func settings(s *result.Set) (list []*Settings) {
	type key struct {
		workload string
		group    result.Group
		values   string
	}
	seen := make(map[key]*Settings)
	for i := range s.Samples {
		m := &s.Samples[i]
		if len(m.Settings) == 0 {
			continue
		}
		c := s.Case(m.Case)
		k := key{c.Workload, c.Group, fmt.Sprint(m.Settings)}
		if seen[k] == nil {
			seen[k] = &Settings{Case: c.Workload + ", " + groupTitle(c.Group), Values: m.Settings}
			list = append(list, seen[k])
		}
		if !slices.Contains(seen[k].Who, m.Contender) {
			seen[k].Who = append(seen[k].Who, m.Contender)
		}
	}
	return list
}
