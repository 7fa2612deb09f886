package claim

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

// A Place is where figures stand: between two marks in a document.
type Place struct{ Doc, Part string }

// readmePart is the part in the README. All others are on the page of figures.
const readmePart = "speed"

func placeOf(part string) Place {
	if part == readmePart {
		return Place{"README.md", part}
	}
	return Place{"docs/reference/figures.md", part}
}

// claimsText has a line for each claim.
//
//go:embed claims.csv
var claimsText string

// Rows are all claims, in the order of the documents.
var Rows = readRows(claimsText)

// readRows reads the claims. It panics if they are wrong, because they are part of the program.
func readRows(text string) (rows []Row) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comment = '#'
	lines, err := r.ReadAll()
	if err != nil {
		panic(err)
	}
	cells := make(map[string]string)
	for _, line := range lines[1:] {
		for i, column := range lines[0] {
			cells[column] = line[i]
		}
		if cells["part"] != "" {
			rows = append(rows, Row{Name: cells["row"], Place: placeOf(cells["part"]), What: cells["what"]})
		}
		last := &rows[len(rows)-1]
		last.Claims = append(last.Claims, newClaim(cells))
	}
	return rows
}

func newClaim(cells map[string]string) *Claim {
	c := &Claim{
		Name: cells["claim"], Kind: Kind(cells["kind"]), Beside: cells["beside"], From: sourceOf(cells["source"]), Case: cells["case"],
		Ours: cells["ours"], Peers: strings.Fields(cells["peers"]), Unit: cells["unit"], Label: cells["label"],
		Chart: cells["chart"], Bar: cells["bar"],
	}
	if goal := cells["asked"]; goal != "" {
		figure, err := strconv.ParseFloat(goal, 64)
		if err != nil {
			panic(fmt.Sprintf("claim %s: %v", c.Name, err))
		}
		c.Asked = &figure
	}
	return c
}

func sourceOf(id string) Source {
	for _, s := range sources {
		if s.ID() == id {
			return s
		}
	}
	panic("there is no source " + id)
}
