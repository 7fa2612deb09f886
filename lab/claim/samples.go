package claim

import (
	"math"
	"strings"

	"github.com/foliofs/folio/lab/result"
)

// Samples are the values that were measured, by name and unit, in the order in which they were
// taken.
type Samples map[string]map[string][]float64

// add takes one more value in.
func (s Samples) add(name, unit string, value float64) {
	if s[name] == nil {
		s[name] = make(map[string][]float64)
	}
	s[name][unit] = append(s[name][unit], value)
}

// fromSet adds the samples of a run of the laboratory, by case and contender. Names of samples from
// another directory than the first end with its file system, for example
// write/shape=tasks/durability=none/files:os@btrfs.
func (s Samples) fromSet(set *result.Set) {
	systems := make(map[string]string)
	for _, d := range set.Run.Dirs[1:] {
		systems[d.Path] = "@" + d.FileSystem
	}
	for i := range set.Samples {
		m := &set.Samples[i]
		c := set.Case(m.Case)
		name := c.Without("dir") + "/" + m.Contender + systems[c.Dir]
		s.add(name, perOp, m.PerOp())
		s.add(name, "busy", float64(m.Busy))
		if m.Log != nil {
			s.add(name, "log-MiB", float64(*m.Log)/(1<<20))
		}
		if m.Use.Allocs != nil {
			s.add(name, "allocs/op", math.Floor(float64(*m.Use.Allocs)/float64(m.Ops))) // whole ones, as package testing counts
		}
	}
}

// missing says why there are no samples of a name in a run of the laboratory.
func missing(set *result.Set, name string) string {
	if _, system, ok := strings.Cut(name, "@"); ok {
		return "no " + system + " directory given: --dirs DIR,DIR"
	}
	for _, f := range set.Failures {
		if c := set.Case(f.Case); c != nil && name == c.Without("dir")+"/"+f.Contender {
			return f.Contender + " failed: " + f.Error
		}
	}
	for _, skip := range set.Skips {
		if program, _, _ := strings.Cut(skip.Contender, ":"); strings.Contains(name, "/"+program) {
			return skip.Contender + " was skipped: " + skip.Reason
		}
	}
	return "no sample of " + name
}
