package result

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A Set is all that a result file holds. It is read-only once it was read.
type Set struct {
	Run        Run // as the run was started
	Contenders []Contender
	Cases      []Case
	Skips      []Skip
	Failures   []Failure
	End        *End     // nil if the run is going on, or died
	Samples    []Sample // in the order of time

	cells map[Cell][]*Sample // the samples of each cell, in the order of their rounds
}

// A Cell is a contender in a case.
type Cell struct{ Case, Contender string }

// addLine adds the record of one line.
func (s *Set) addLine(line []byte) error {
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("%w: %w", errNotResults, err)
	}
	switch {
	case r.Run != nil:
		return s.addRun(r.Run)
	case s.Run.Format == 0:
		return fmt.Errorf("%w: it does not begin with a run", errNotResults)
	case r.Contender != nil && s.Contender(r.Contender.ID) == nil:
		s.Contenders = append(s.Contenders, *r.Contender)
	case r.Case != nil && s.Case(r.Case.ID) == nil:
		s.Cases = append(s.Cases, *r.Case)
	case r.Skip != nil:
		s.Skips = append(s.Skips, *r.Skip)
	case r.Sample != nil:
		if s.Case(r.Sample.Case) == nil || s.Contender(r.Sample.Contender) == nil {
			return fmt.Errorf("a sample of %s in %s, of which one was not announced", r.Sample.Contender, r.Sample.Case)
		}
		s.Samples = append(s.Samples, *r.Sample)
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
		wrote := ""
		if r.Machine.Revision != "" {
			wrote = ", of source " + r.Machine.Revision
		}
		return fmt.Errorf("result format %d, this laboratory reads %d; read it with the one that wrote it%s, or measure again", r.Format, Format, wrote)
	case s.Run.Format == 0:
		s.Run = *r
	case r.ID != s.Run.ID:
		return fmt.Errorf("two runs in one file: %s and %s", s.Run.ID, r.ID)
	}
	s.End, s.Skips = nil, nil
	return nil
}

// whole ends the reading of a file, which must have held a run.
func (s *Set) whole() error {
	if s.Run.Format == 0 {
		return fmt.Errorf("%w: it is empty", errNotResults)
	}
	s.cells = make(map[Cell][]*Sample)
	for i := range s.Samples {
		m := &s.Samples[i]
		cell := Cell{m.Case, m.Contender}
		s.cells[cell] = append(s.cells[cell], m)
	}
	return nil
}

// Case returns a case by its ID; nil if there is none.
func (s *Set) Case(id string) *Case {
	if i := slices.IndexFunc(s.Cases, func(c Case) bool { return c.ID == id }); i >= 0 {
		return &s.Cases[i]
	}
	return nil
}

// Contender returns a contender by its ID; nil if there is none.
func (s *Set) Contender(id string) *Contender {
	if i := slices.IndexFunc(s.Contenders, func(c Contender) bool { return c.ID == id }); i >= 0 {
		return &s.Contenders[i]
	}
	return nil
}

// Of returns the samples of a contender in a case, in the order of their rounds.
func (s *Set) Of(caseID, contender string) []*Sample { return s.cells[Cell{caseID, contender}] }

// In returns the contenders that have samples in a case, in the order of Contenders.
func (s *Set) In(caseID string) []*Contender {
	var out []*Contender
	for i := range s.Contenders {
		if len(s.Of(caseID, s.Contenders[i].ID)) > 0 {
			out = append(out, &s.Contenders[i])
		}
	}
	return out
}

// Has reports whether a sample was taken.
func (s *Set) Has(cell Cell, round int) bool {
	return slices.ContainsFunc(s.cells[cell], func(m *Sample) bool { return m.Round == round })
}
