package claim

import "time"

// A schedule tells how long the rest of a run takes: by what each source took when the committed figures were made, and by how much slower or
// faster this run is. The seconds are those of one sample.
type schedule struct {
	took    map[string]float64 // by what is known from before
	samples int                // that each source of this run takes
	rest    []string           // sources that have not begun

	expected, spent float64 // of those that are done
}

// expect is how long a source will take.
func (s *schedule) expect(source string) float64 {
	one, ok := s.took[source]
	if !ok && len(s.took) > 0 { // a new one: as long as the others on average
		for _, seconds := range s.took {
			one += seconds / float64(len(s.took))
		}
	}
	return one * float64(s.samples)
}

// begin takes a source off the rest.
func (s *schedule) begin() { s.rest = s.rest[1:] }

// end notes how long a source took.
func (s *schedule) end(source string, took time.Duration) {
	s.expected += s.expect(source)
	s.spent += took.Seconds()
}

// left is how long it takes, of a source that has done a part, and of those that have not begun; 0 if nothing is known.
func (s *schedule) left(source string, done, all int) time.Duration {
	seconds := s.expect(source) * float64(all-done) / float64(max(all, 1))
	for _, other := range s.rest {
		seconds += s.expect(other)
	}
	if s.expected > 0 {
		seconds *= s.spent / s.expected
	}
	return time.Duration(seconds * float64(time.Second))
}

// tell tells the observer how far a source is.
func (r *run) tell(source, what string, done, all int) {
	r.Watch.Measuring(source, what, done, all, r.plan.left(source, done, all))
}
