// Package runner measures: it builds each contender in its own module, starts a process for each sample, talks to it over its
// standard streams (see package workload for the protocol), and appends every raw sample to a result file.
//
// # The rules of fairness
//
// Each has bitten a published suite. What the runner does for each of them, and where:
//
//	1   contenders of a case promise the same       Case.Group is asked of a contender, and of what it says it opened   rules.go
//	2   settings are read back on every connection  compared with each other and with what the group demands            rules.go
//	3   versions and options are recorded           a contender that does not tell them takes no part                   rules.go
//	4   a fresh file and a fresh process            an empty directory each; a shared database is found unchanged       sample.go, guard.go
//	5   raw means unprepared                        statements that were prepared are counted                           rules.go
//	6   a busy writer tries again                   the number of operations is that of the job; refusals are recorded  rules.go
//	7   answers are checked                         against those that the runner works out itself                      rules.go
//	8   warming up is apart                         it has happened, with a clock of its own, before the clock starts   rules.go
//	9   one transaction and each its own            both are cases, for every contender                                 plan.go
//	10  no figure without its command               a run without one is refused; the result file begins with it        run.go
//
// A contender that breaks a rule, crashes, hangs, answers wrongly or talks nonsense is recorded as a failure and has no more
// turns in that case. The run goes on.
//
// Profiles and traces of system calls are taken when all samples are, in processes of their own (turn.go).
package runner
