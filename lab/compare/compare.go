// Package compare tells whether a contender has become faster or slower from one run to another. It
// compares row by row: a row is a contender in a case that both runs have.
//
// # When a row differs
//
// Two runs of the same programs always differ a little: the machine is warmer, another process
// wakes up, files lie elsewhere. A row is said to differ only if all of these conditions hold:
//
//  1. The U test tells its samples apart, at figure.Alpha, after the probabilities of all rows were
//     adjusted for their number. Without that, one row of twenty would differ by chance.
//  2. It still does so without the mood of the machine: the change of the contenders in that case
//     whose versions are the same in both runs. A change that they all share does not come from one
//     of them. Samples of one run share that mood, but the test takes them for independent. Nothing
//     is taken out if there is no such contender, or if the machines differ: then the user asks for
//     their difference.
//  3. The medians differ by at least Options.Min, with the mood and without. A smaller change does
//     not matter, even if a test can prove it.
//  4. They differ by more than the runs drift within themselves, from their first to their second
//     half. For example, a run whose halves differ by 8 % cannot prove that another differs by 6 %.
//
// The verdict says so if a row has too few samples for the test to find anything.
package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/foliofs/folio/lab/report/figure"
	"github.com/foliofs/folio/lab/result"
)

// DefaultMin is the least change that counts.
const DefaultMin = 0.05

// Options say how runs are compared.
type Options struct {
	Figure *figure.Figure
	Min    float64 // the least change of a median that counts, as a share of it
}

// A Verdict is the verdict on a row.
type Verdict string

// The verdicts.
const (
	Same Verdict = "no difference"
	Up   Verdict = "better"
	Down Verdict = "worse"
)

// A Row is a contender in a case.
type Row struct {
	Case      string          `json:"case"`
	Contender string          `json:"contender"`
	A         figure.Estimate `json:"a"`
	B         figure.Estimate `json:"b"`
	Ratio     float64         `json:"ratio"`      // of the medians, B to A; 0 where A's is 0
	Mood      float64         `json:"mood"`       // the ratio of contenders that are the same in both runs; 1 where that is not known
	P         float64         `json:"p"`          // of the U test alone
	Adjusted  float64         `json:"p_adjusted"` // for the number of rows, the greater of those with and without the mood
	Drift     float64         `json:"drift"`      // the most that a run differs from itself, as a share
	Few       bool            `json:"few"`        // there are too few samples to find a difference
	Verdict   Verdict         `json:"verdict"`
	Text      string          `json:"text"` // the verdict in words, with how much
	Versions  [2]string       `json:"versions"`

	control bool // the contender is the same in both runs
	values  [2][]float64
}

// A Comparison is all that is said of two runs.
type Comparison struct {
	Figure   string          `json:"figure"`
	Unit     figure.Unit     `json:"unit"`
	Min      float64         `json:"min"`
	Alpha    float64         `json:"alpha"`
	Rows     []Row           `json:"rows"`
	Counts   map[Verdict]int `json:"counts"`
	Few      int             `json:"few"`
	Mood     float64         `json:"mood"`     // median of the rows of contenders that are the same in both runs; 1 if there are none
	Warnings []string        `json:"warnings"` // differences that may explain the rows
	Left     []string        `json:"left"`     // rows that only one run has, or that are not the same in both
}

// Compare compares all rows that two runs have in common.
func Compare(a, b *result.Set, o *Options) *Comparison {
	c := &Comparison{Figure: o.Figure.Name, Unit: o.Figure.Unit, Min: o.Min, Alpha: figure.Alpha, Counts: make(map[Verdict]int)}
	c.Warnings = warnings(a, b)
	for i := range a.Cases {
		here := &a.Cases[i]
		there := b.Case(here.ID)
		for _, who := range a.In(here.ID) {
			name := here.ID + " " + who.ID
			values := [2][]float64{o.Figure.Values(a.Of(here.ID, who.ID))}
			if there != nil {
				values[1] = o.Figure.Values(b.Of(here.ID, who.ID))
			}
			switch different := differs(here, there); {
			case there == nil || len(b.Of(here.ID, who.ID)) == 0:
				c.Left = append(c.Left, name+": only in the first run")
			case different != "":
				c.Left = append(c.Left, name+": "+different)
			case len(values[0]) > 0 && len(values[1]) > 0:
				row := newRow(values)
				row.Case, row.Contender = here.ID, who.ID
				row.Versions = [2]string{version(a, who), version(b, b.Contender(who.ID))}
				row.control = row.Versions[0] == row.Versions[1] && !strings.HasSuffix(row.Versions[0], changed)
				c.Rows = append(c.Rows, row)
			}
		}
	}
	c.Left = append(c.Left, onlyIn(b, a)...)
	c.moods(len(c.Warnings) == 0)
	c.judge(o)
	c.resolution()
	return c
}

// changed ends the revision of a source that differs from its commit, or is not known.
const changed = "+changes"

// version returns the version that a contender was built from. Code of the project has the version
// of the project.
func version(s *result.Set, who *result.Contender) string {
	if who.Ours || strings.HasPrefix(who.ModuleVersion, "v0.0.0-00010101000000") {
		return cmp.Or(s.Run.Machine.Revision, changed)
	}
	return who.ModuleVersion
}

// moods finds out how much the machine as a whole has changed, from the contenders that have not.
func (c *Comparison) moods(same bool) {
	var all []float64
	byCase := make(map[string][]*Row)
	for i := range c.Rows {
		row := &c.Rows[i]
		row.Mood = 1
		byCase[row.Case] = append(byCase[row.Case], row)
		if row.control && row.Ratio > 0 {
			all = append(all, row.Ratio)
		}
	}
	c.Mood = 1
	if e, ok := figure.Of(all); ok {
		c.Mood = e.Median
	}
	if !same {
		return
	}
	for _, rows := range byCase {
		for _, row := range rows {
			row.Mood = mood(rows, row)
		}
	}
}

// mood returns the median ratio of the other contenders in a case that are the same in both runs; 1
// if there are none.
func mood(rows []*Row, of *Row) float64 {
	var others []float64
	for _, row := range rows {
		if row != of && row.control && row.Ratio > 0 {
			others = append(others, row.Ratio)
		}
	}
	if e, ok := figure.Of(others); ok {
		return e.Median
	}
	return 1
}

// resolution warns where one row that differs could not be told from chance, however much it does.
func (c *Comparison) resolution() {
	for i := range c.Rows {
		row := &c.Rows[i]
		if n, m := row.A.N, row.B.N; !row.Few && figure.LeastP(n, m)*float64(len(c.Rows)) > figure.Alpha {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%d and %d samples are few for %d rows: one row that differs, however much, may be missed; take more rounds", n, m, len(c.Rows)))
			return
		}
	}
}

// onlyIn lists the rows of b that a does not have.
func onlyIn(b, a *result.Set) (list []string) {
	for i := range b.Cases {
		for _, who := range b.In(b.Cases[i].ID) {
			if len(a.Of(b.Cases[i].ID, who.ID)) == 0 {
				list = append(list, b.Cases[i].ID+" "+who.ID+": only in the second run")
			}
		}
	}
	return list
}

// warnings are differences between the runs that may be the reason of every other.
func warnings(a, b *result.Set) (list []string) {
	m, n := a.Run.Machine, b.Run.Machine
	for _, d := range []struct{ what, a, b string }{
		{"processor", m.CPU, n.CPU},
		{"number of cores", fmt.Sprint(m.Cores), fmt.Sprint(n.Cores)},
		{"system", m.OS + "/" + m.Arch, n.OS + "/" + n.Arch},
		{"kernel", m.Kernel, n.Kernel},
		{"version of Go", m.Go, n.Go},
		{"C compiler", m.Compiler, n.Compiler},
		{"seed", fmt.Sprint(a.Run.Seed), fmt.Sprint(b.Run.Seed)},
	} {
		if d.a != d.b {
			list = append(list, fmt.Sprintf("another %s: %s, then %s", d.what, d.a, d.b))
		}
	}
	return list
}

// differs says why a case is not the same in both runs; "" if it is.
func differs(a, b *result.Case) string {
	if b == nil {
		return ""
	}
	for _, p := range a.Fixed {
		if other := b.Param(p.Name); other != p.Value {
			return fmt.Sprintf("not the same: %s is %s, then %s", p.Name, p.Value, other)
		}
	}
	if a.Group != b.Group {
		return fmt.Sprintf("not the same: its group is %s, then %s", a.Group, b.Group)
	}
	return ""
}

func newRow(values [2][]float64) Row {
	a, b := values[0], values[1]
	row := Row{P: figure.P(a, b), Drift: max(drift(a), drift(b)), values: values}
	row.A, _ = figure.Of(a) // both have values
	row.B, _ = figure.Of(b)
	if row.A.Median != 0 {
		row.Ratio = row.B.Median / row.A.Median
	}
	row.Few = !figure.Enough(len(a), len(b))
	return row
}

// withoutMood is the probability of the samples when the second run's are brought to the mood of
// the first's.
func (r *Row) withoutMood() float64 {
	if r.Mood == 1 {
		return r.P
	}
	b := slices.Clone(r.values[1])
	for i := range b {
		b[i] /= r.Mood
	}
	return figure.P(r.values[0], b)
}

// drift returns how far apart the medians of the two halves of a run are, as a share of the lesser.
func drift(values []float64) float64 {
	first, ok1 := figure.Of(values[:len(values)/2])
	second, ok2 := figure.Of(values[len(values)/2:])
	if !ok1 || !ok2 || min(first.Median, second.Median) <= 0 {
		return 0
	}
	return change(second.Median / first.Median)
}

// change returns the share by which a value has grown, or would have to grow to be its old value.
// It is the same for a ratio and its inverse.
func change(ratio float64) float64 {
	if ratio <= 0 {
		return math.Inf(1)
	}
	return max(ratio, 1/ratio) - 1
}

// judge gives every row its verdict.
func (c *Comparison) judge(o *Options) {
	var rows []*Row
	var with, without []float64
	for i := range c.Rows {
		row := &c.Rows[i]
		row.Adjusted, row.Verdict = 1, Same
		if !row.Few {
			rows, with, without = append(rows, row), append(with, row.P), append(without, row.withoutMood())
		}
	}
	with, without = figure.Adjust(with), figure.Adjust(without)
	for i, row := range rows {
		row.Adjusted = max(with[i], without[i])
		if row.Adjusted <= figure.Alpha && row.matters(o.Min) {
			row.Verdict = Down
			if (row.B.Median > row.A.Median) == o.Figure.More {
				row.Verdict = Up
			}
		}
	}
	for i := range c.Rows {
		row := &c.Rows[i]
		row.Text = row.text(o.Figure)
		c.Counts[row.Verdict]++
		if row.Few {
			c.Few++
		}
	}
}

// matters reports whether a change is large enough, with the mood and without, and in the same
// direction.
func (r *Row) matters(least float64) bool {
	least = max(least, r.Drift)
	beyond := r.Ratio / r.Mood
	return change(r.Ratio) >= least && change(beyond) >= least && (r.Ratio > 1) == (beyond > 1)
}

// timely are the figures of which one says faster and slower, and not less and more.
var timely = []string{"rate", "p50", "p90", "p99", "max", "cpu", "warm-up"}

// text says a verdict in words, and of how many samples, where they are fewer than they should be.
func (r *Row) text(f *figure.Figure) string {
	text := r.words(f)
	if !r.Few && min(r.A.N, r.B.N) < figure.Samples {
		text += fmt.Sprintf(" (of %d and %d samples, where %d are asked for)", r.A.N, r.B.N, figure.Samples)
	}
	return text
}

// words returns the verdict in words. For example, "20% faster" means a rate 20% higher, or a time
// 20% lower.
func (r *Row) words(f *figure.Figure) string {
	switch {
	case r.Few:
		return string(Same) + " (too few samples to find one)"
	case r.Verdict == Same:
		return string(Same)
	}
	word := map[bool]string{true: "less", false: "more"}[r.Verdict == Up]
	if slices.Contains(timely, f.Name) {
		word = map[bool]string{true: "faster", false: "slower"}[r.Verdict == Up]
	}
	if r.Ratio <= 0 {
		return word
	}
	if by := change(r.Ratio); by >= 1 {
		return figure.Factor(by+1) + " " + timesWord(word)
	}
	return fmt.Sprintf("%.0f%% %s", 100*math.Abs(r.Ratio-1), word)
}

// timesWord is the word after "2.5 times".
func timesWord(word string) string {
	return map[string]string{"faster": "as fast", "slower": "slower", "less": "less", "more": "as much"}[word]
}

// Summary counts the verdicts in a line.
func (c *Comparison) Summary() string {
	var parts []string
	for _, v := range []Verdict{Same, Up, Down} {
		if n := c.Counts[v]; n > 0 || v == Same {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	text := fmt.Sprintf("%d rows: %s (%.0f%% no difference)", len(c.Rows), strings.Join(parts, ", "), math.Floor(100*float64(c.Counts[Same])/float64(len(c.Rows))))
	if c.Few > 0 {
		text += fmt.Sprintf("; %d rows have too few samples to find any: take %d rounds", c.Few, figure.Samples)
	}
	return text
}

// Method says in a line when a change counts, and how much the machine has changed.
func (c *Comparison) Method() string {
	return fmt.Sprintf(
		"p is that of the U test, adjusted for the number of rows; a change counts from %s%%, beyond the drift within the runs; contenders that are the same in both did %s as much in the second",
		figure.Digits(100*c.Min), figure.Factor(c.Mood),
	)
}
