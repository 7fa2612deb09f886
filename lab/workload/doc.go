// Package workload is what the laboratory does: one file for each workload. A workload has flags, makes cases of them, and knows for each
// case the right answer; the other half of it runs in the programs of the contenders, against interfaces that they
// implement.
//
// The module has no dependencies, because the contenders are built with it and their drivers do not agree on any. The runner
// uses the one half (Workload.Flags, Cases, Want), the contenders the other (Workload.Start) by way of package kit.
//
// # The protocol
//
// A contender is a program that reads JSON Lines from standard input and writes them to standard output: a Request, or a
// Reply, each. What it writes to standard error is kept for the case that it fails. One process does one job:
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
// At any time it may say {"error":{...}} instead, and end. The workload of whole processes, rowids, is an exception: the
// program is called with arguments, and standard input and output are those of the work.
package workload
