package result

import (
	"encoding/json"
	"fmt"
)

// A Set is all that a result file holds. It is read-only once it was read.
type Set struct {
	Run        Run         `json:"run"` // as the run was started
	Contenders []Contender `json:"contenders"`
	Cases      []Case      `json:"cases"`
	Skips      []Skip      `json:"skips"`
	Failures   []Failure   `json:"failures"`
	End        *End        `json:"end"`     // nil if the run is going on, or died
	Samples    []Sample    `json:"samples"` // in the order in which they were taken

	samples    map[Cell][]int
	cases      map[string]int
	contenders map[string]int
}

// A Cell is a contender in a case.
type Cell struct{ Case, Contender string }

func newSet() *Set {
	return &Set{samples: make(map[Cell][]int), cases: make(map[string]int), contenders: make(map[string]int)}
}

// addLine adds the record of one line.
func (s *Set) addLine(line []byte) error {
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("%w: %w", errNotResults, err)
	}
	return s.add(r)
}

func (s *Set) add(r Record) error {
	switch {
	case r.Run != nil:
		return s.addRun(r.Run)
	case s.Run.Format == 0:
		return fmt.Errorf("%w: it does not begin with a run", errNotResults)
	case r.Contender != nil:
		if _, ok := s.contenders[r.Contender.ID]; !ok {
			s.contenders[r.Contender.ID] = len(s.Contenders)
			s.Contenders = append(s.Contenders, *r.Contender)
		}
	case r.Case != nil:
		if _, ok := s.cases[r.Case.ID]; !ok {
			s.cases[r.Case.ID] = len(s.Cases)
			s.Cases = append(s.Cases, *r.Case)
		}
	case r.Skip != nil:
		s.Skips = append(s.Skips, *r.Skip)
	case r.Sample != nil:
		return s.addSample(r.Sample)
	case r.Failure != nil:
		s.Failures = append(s.Failures, *r.Failure)
	case r.End != nil:
		s.End = r.End
	}
	return nil
}

// addRun takes the header. A further header says that the run was resumed, which records its skips
// again.
func (s *Set) addRun(r *Run) error {
	switch {
	case r.Format != Format:
		return fmt.Errorf("result format %d, this laboratory reads %d; read it with the one that wrote it%s, or measure again", r.Format, Format, revision(r))
	case s.Run.Format == 0:
		s.Run = *r
	case r.ID != s.Run.ID:
		return fmt.Errorf("two runs in one file: %s and %s", s.Run.ID, r.ID)
	}
	s.End, s.Skips = nil, nil
	return nil
}

// revision names the source that wrote a run, where it is known.
func revision(r *Run) string {
	if r.Machine.Revision == "" {
		return ""
	}
	return ", of source " + r.Machine.Revision
}

func (s *Set) addSample(m *Sample) error {
	key := Cell{m.Case, m.Contender}
	if s.Case(m.Case) == nil || s.Contender(m.Contender) == nil {
		return fmt.Errorf("a sample of %s in %s, of which one was not announced", m.Contender, m.Case)
	}
	s.samples[key] = append(s.samples[key], len(s.Samples))
	s.Samples = append(s.Samples, *m)
	return nil
}

// whole checks that there is a run at all.
func (s *Set) whole() error {
	if s.Run.Format == 0 {
		return fmt.Errorf("%w: it is empty", errNotResults)
	}
	return nil
}

// Case returns a case by its ID; nil if there is none.
func (s *Set) Case(id string) *Case {
	if i, ok := s.cases[id]; ok {
		return &s.Cases[i]
	}
	return nil
}

// Contender returns a contender by its ID; nil if there is none.
func (s *Set) Contender(id string) *Contender {
	if i, ok := s.contenders[id]; ok {
		return &s.Contenders[i]
	}
	return nil
}

// Of returns the samples of a contender in a case, in the order of their rounds.
func (s *Set) Of(caseID, contender string) []*Sample {
	var out []*Sample
	for _, i := range s.samples[Cell{caseID, contender}] {
		out = append(out, &s.Samples[i])
	}
	return out
}

// In returns the contenders that have samples in a case, in the order in which they were announced.
func (s *Set) In(caseID string) []*Contender {
	var out []*Contender
	for i := range s.Contenders {
		if len(s.samples[Cell{caseID, s.Contenders[i].ID}]) > 0 {
			out = append(out, &s.Contenders[i])
		}
	}
	return out
}

// Has reports whether a sample was taken.
func (s *Set) Has(caseID, contender string, round int) bool {
	for _, i := range s.samples[Cell{caseID, contender}] {
		if s.Samples[i].Round == round {
			return true
		}
	}
	return false
}
