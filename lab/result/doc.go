// Package result is what a run of the laboratory leaves: every raw sample, and all that is needed to judge it. It is the
// seam between the runner, which writes, and the report, which reads: a report is a pure function of a Set.
//
// # The file
//
// A result file is JSON Lines: one Record a line, each an object with exactly one member, whose name says what it is.
// Lines are appended while the run goes on, so a file that was cut off anywhere is valid up to its last whole line, and the
// run can be resumed from it. The order is
//
//	run          one; again each time the run is resumed
//	contender    who takes part, before its first sample
//	case         what is measured, before its first sample
//	skip         who does not take part, and why
//	sample       one process, one fresh store, one measurement
//	failure      a sample that could not be taken
//	trace        the system calls of one process, which is not a sample as tracing slows it down
//	profile      where the time goes
//	end          the run went through, or was interrupted
//
// References are by ID: a sample names its case and its contender. Readers pass over members that they do not know; a new
// meaning of an old member is a new Format.
//
// # Units
//
// Durations are seconds where the name says so and otherwise nanoseconds (time.Duration); sizes are bytes. What could not be
// found out on this system is absent: a nil pointer, not 0.
package result

// Format is the version of the file format.
const Format = 1
