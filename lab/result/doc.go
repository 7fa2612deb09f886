// Package result is the file of a run of the laboratory: every raw sample, and all that a reader
// needs to judge it. The runner writes it, and the report reads it: a report is a pure function of
// a Set.
//
// # The file
//
// A result file is JSON Lines: one [Record] a line, an object with exactly one member, whose name
// is its kind. Lines are appended while the run goes on. So a file that was cut off anywhere is
// valid up to its last whole line, and the run can be resumed from it. The order is
//
//	run          one; again each time the run is resumed
//	contender    a participant, before its first sample
//	case         a case, before its first sample
//	skip         a contender that does not take part, and why
//	sample       one process, one fresh store, one measurement
//	failure      a sample that could not be taken
//	end          the run went through, or was interrupted
//
// References are by ID: a sample names its case and its contender. Readers ignore members that they
// do not know. A new meaning of an old member is a new [Format].
//
// # Units
//
// Durations are seconds where the name says so, and otherwise nanoseconds (time.Duration). Sizes
// are bytes. A value that is unknown on this system is absent: a nil pointer, not 0.
package result

// Format is the version of the file format.
const Format = 1
