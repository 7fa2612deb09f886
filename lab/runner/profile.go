package runner

import (
	"cmp"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/foliofs/folio/lab/result"
)

// Endings of the files that a contender writes: the profile of the processor, and the allocations
// until the clock started and until it stopped.
const (
	cpuProfile    = ".cpu.pprof"
	allocProfile  = ".alloc.pprof"
	beforeProfile = ".before.pprof"
)

// profilePrefix returns the prefix for the profiles of a cell: in a directory next to the results.
func (r *run) profilePrefix(c result.Cell) (string, error) {
	dir, err := filepath.Abs(strings.TrimSuffix(r.o.Out, filepath.Ext(r.o.Out)) + ".profiles")
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, fileName.Replace(c.Case+"/"+c.Contender)), os.MkdirAll(dir, 0o777)
}

// fileName makes a name of an ID.
var fileName = strings.NewReplacer("/", ".", ":", "-", "\\", "-")

// profiles reads the files of a contender and sums them up. A process without a sample in a profile
// has no record of it.
func (r *run) profiles(c result.Cell, prefix string) ([]result.Record, error) {
	cpu, err1 := readProfile(prefix + cpuProfile)
	alloc, err2 := allocations(prefix)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	var records []result.Record
	for _, p := range []struct {
		of, unit, ending string
		profile          *profile.Profile
	}{{"cpu", "cpu", cpuProfile, cpu}, {"alloc", "alloc_space", allocProfile, alloc}} {
		sum := summarize(p.profile, p.unit)
		if sum == nil {
			continue
		}
		sum.Case, sum.Contender, sum.Of = c.Case, c.Contender, p.of
		sum.File = path.Join(filepath.Base(filepath.Dir(prefix)), filepath.Base(prefix)+p.ending)
		if p.of == "cpu" {
			sum.Total /= 1e9
		}
		records = append(records, result.Record{Profile: sum})
	}
	return records, nil
}

func readProfile(name string) (*profile.Profile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: name, Err: err}
	}
	return p, nil
}

// allocations returns the allocations while the clock ran, and writes them in place of the profile
// of all allocations.
func allocations(prefix string) (*profile.Profile, error) {
	before, err1 := readProfile(prefix + beforeProfile)
	after, err2 := readProfile(prefix + allocProfile)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	before.Scale(-1)
	p, err := profile.Merge([]*profile.Profile{after, before})
	if err != nil {
		return nil, err
	}
	f, err := os.Create(prefix + allocProfile)
	if err != nil {
		return nil, err
	}
	return p, errors.Join(p.Write(f), f.Close(), os.Remove(prefix+beforeProfile))
}

// maxFunctions are listed of a profile.
const maxFunctions = 12

// summarize divides one value of a profile among functions; nil if there is nothing to divide.
func summarize(p *profile.Profile, value string) *result.Profile {
	index := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == value })
	if index < 0 {
		return nil
	}
	out := &result.Profile{}
	functions := make(map[string]float64)
	for _, s := range p.Sample {
		v := float64(s.Value[index])
		if v <= 0 {
			continue
		}
		out.Samples += s.Value[0]
		out.Total += v
		functions[leaf(s)] += v
	}
	if out.Total == 0 {
		return nil
	}
	for name, v := range functions {
		out.Functions = append(out.Functions, result.Share{Name: name, Part: v / out.Total})
	}
	slices.SortFunc(out.Functions, func(a, b result.Share) int { return cmp.Or(cmp.Compare(b.Part, a.Part), cmp.Compare(a.Name, b.Name)) })
	out.Functions = out.Functions[:min(maxFunctions, len(out.Functions))]
	return out
}

// leaf returns the innermost function of a sample. All time in C is spent in the runtime's one way
// there, so leaf returns the C function that was called.
func leaf(s *profile.Sample) string {
	innermost := ""
	for _, l := range s.Location {
		for _, line := range l.Line { // inlined functions too
			if line.Function == nil {
				continue
			}
			name := line.Function.Name
			if strings.Contains(name, "._Cfunc_") {
				return name
			}
			if innermost = cmp.Or(innermost, name); !strings.HasPrefix(name, "runtime.") {
				return innermost
			}
		}
	}
	return cmp.Or(innermost, "?")
}
