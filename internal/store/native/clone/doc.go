// Package clone lets files of a volume share chunks, and gives them chunks of their own before
// these change.
package clone
