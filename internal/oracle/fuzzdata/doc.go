// Package fuzzdata replays the database images of SQLite's own fuzzers, most of them corrupt,
// through the engine and through C SQLite, and compares. It consists of tests.
//
// The images are rows of the databases fuzzdata*.db that come with SQLite's TCL tests. C SQLite
// reads each in a child process, since a corrupt image may crash it or keep it busy for ever.
package fuzzdata
