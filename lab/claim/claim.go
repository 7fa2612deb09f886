// Package claim measures the figures that the documents give of the project's speed. Each figure of
// the README and of docs that tells how fast something is, or how much it costs, is a [Claim]: an
// action, its sides, and, where a goal was set, the goal. [Measure] measures claims, and
// [Report.Publish] keeps their figures in docs/claims.json. From there, the test of this package
// writes them into the documents, between two marks. No figure there is written by hand.
//
// A claim is measured by a [Source]: cases of the laboratory, or a Go benchmark that has both sides
// in it. Each source leaves [Samples] by name. A claim compares medians of samples of one run on
// one machine.
package claim

import (
	"fmt"
	"slices"
	"strings"
)

// A Row is a line of the table at a place: one action, compared with one or more other actions.
type Row struct {
	Name   string // by which the command line knows all its claims
	Place  Place
	What   string
	Claims []*Claim
}

// A Claim is one figure.
type Claim struct {
	Name   string // by which the command line and the documents know it
	Beside string // what ours is compared with, for people; "" for figures that stand alone
	Kind   Kind
	From   Source
	// Case is the name of samples, with a star in place of Ours and of each of Peers. A name with a
	// slash stands for itself.
	Case  string
	Ours  string
	Peers []string // all of them are measured, the fastest counts
	Unit  string   // of the samples; "" is ns/op
	Asked *float64 // at least for Faster, at most for the other kinds; nil if no goal was set
	Label string   // what a figure counts that is not of Faster, such as "allocations", or "the time"
	Chart string   // the picture with a bar of the claim; "" if none has
	Bar   string   // its label there
}

// A Kind is the meaning of a claim's figure.
type Kind string

// The kinds of claims.
const (
	Faster Kind = ""       // the median of the fastest peer, divided by ours
	Growth Kind = "growth" // our median, divided by the median of the one peer
	Median Kind = "median" // our median itself
	Worst  Kind = "worst"  // our largest sample
)

// name returns the name of the samples of Ours or of a peer.
func (c *Claim) name(who string) string {
	if strings.Contains(who, "/") {
		return who
	}
	return strings.Replace(c.Case, "*", who, 1)
}

func (c *Claim) unit() string {
	if c.Unit == "" {
		return perOp
	}
	return c.Unit
}

// perOp is the unit of time in samples.
const perOp = "ns/op"

// meets reports whether a figure reaches the goal.
func (c *Claim) meets(figure float64) bool {
	switch {
	case c.Asked == nil:
		return true
	case c.Kind == Faster:
		return figure >= *c.Asked
	}
	return figure <= *c.Asked
}

// In returns the claims of the row that are among the given ones.
func (row *Row) In(claims []*Claim) (in []*Claim) {
	for _, c := range row.Claims {
		if slices.Contains(claims, c) {
			in = append(in, c)
		}
	}
	return in
}

// All returns every claim, in the order of the documents.
func All() (all []*Claim) {
	for _, row := range Rows {
		all = append(all, row.Claims...)
	}
	return all
}

// Find returns the claims with the given names, which are names of claims, of rows, or of the parts
// of documents. Without names it returns all claims.
func Find(names []string) (found []*Claim, err error) {
	if len(names) == 0 {
		return All(), nil
	}
	for _, name := range names {
		before := len(found)
		for _, row := range Rows {
			for _, c := range row.Claims {
				if name == c.Name || name == row.Name || name == row.Place.Part {
					found = append(found, c)
				}
			}
		}
		if len(found) == before {
			return nil, fmt.Errorf("no claim %q; claims --list names them", name)
		}
	}
	return found, nil
}
