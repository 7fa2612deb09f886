// Package mutated damages databases, rollback journals and write-ahead logs at random, lets the
// engine and C SQLite open, read and write the mutated file, each in a copy, and compares. It
// consists of tests.
package mutated
