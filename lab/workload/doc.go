// Package workload is the work that the laboratory measures, a file for each workload. A workload
// has flags, makes cases of them, and knows the right answer of each case. The other half of it
// runs in the programs of the contenders, against interfaces that they implement.
//
// It has no dependencies, because all contenders are built with it and their drivers do not
// agree on versions. The runner uses one half (Workload.Flags, Cases, Want). The contenders use the
// other half (Workload.Start) through package harness.
//
// # The protocol
//
// A contender is a program that reads JSON Lines from standard input and writes them to standard
// output: a [Request], or a [Reply], each. The runner keeps its standard error in case that it
// fails. One process does one job:
//
//	runner                       contender
//	{"describe":{}}        --->
//	                       <---  {"about":{...}}             and it ends
//
//	{"make":{...}}         --->
//	                       <---  {"rows":1000}               again and again
//	                       <---  {"done":{}}                 and it ends
//
//	{"job":{...}}          --->                              it opens a new store in an empty directory
//	                       <---  {"ready":{...}}             warmed up; with the settings of every connection
//	{"go":{}}              --->                              the clock runs
//	                       <---  {"done":{...}}              the answer included; the store is still open
//	end of input           --->                              it closes the store and ends
//
// At any time it may reply {"error":{...}} instead, and end. The workload of whole processes,
// rowids, starts another process for the measured work, as a rule the same program with arguments.
package workload
