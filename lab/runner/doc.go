// Package runner measures. It builds a program for each contender, starts a process for each
// sample, talks to it over its standard streams (package workload describes the protocol), and
// appends every raw sample to a result file.
//
// # The rules of fairness
//
// Each rule answers a mistake of a published suite. The runner keeps them in these files:
//
//	 1  contenders of a case promise the same: the runner asks for Case.Group, and the contender
//	    reports the group that it opened                                                  rules.go
//	 2  settings are read back on every connection, and compared with each other and with the
//	    demands of the group                                                              rules.go
//	 3  versions and options are recorded: a contender that does not report them takes no part
//	                                                                                      rules.go
//	 4  a fresh file and a fresh process: a new directory each, and a shared database is found
//	    unchanged                                                              sample.go, guard.go
//	 5  raw means unprepared: prepared statements are counted                             rules.go
//	 6  a busy writer tries again: the number of operations is that of the job, and refusals are
//	    recorded                                                                          rules.go
//	 7  answers are compared with those that the runner computes itself                   rules.go
//	 8  warming up has a clock of its own, and ends before the clock of the sample starts rules.go
//	 9  one transaction and each its own: both are cases, for every contender              plan.go
//	10  no figure without its command: a run without one is refused, and the result file begins
//	    with it                                                                             run.go
//
// A contender that breaks a rule, crashes, hangs, or breaks the protocol is recorded as a failure,
// and has no more turns in that case. The run goes on.
//
// Nothing is built while a sample is measured.
package runner
