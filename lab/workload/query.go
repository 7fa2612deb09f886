package workload

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// Query runs the user's own statement. It is not one of All, because it needs a database, a
// statement and arguments.
var Query = &Workload{
	Name:  "query",
	Short: "the user's own statement",
	Flags: []Flag{
		{"reads", "20000", "", "runs of the statement in a sample, by all goroutines together", number},
		{"goroutines", "1,2,4", "", "goroutines, each with a connection of its own", number},
		{"mode", "raw,prepared", "", "raw prepares every time, prepared once", "raw,prepared"},
	},
	Varied:      []string{"mode", "goroutines"},
	Unit:        "query",
	Question:    "How fast is your query?",
	Description: "The statement is run with arguments drawn at random, each in a transaction of its own; all rows are read and compared.",
	Supports:    func(a *API) bool { return a.Queries != nil && a.AnySQL },
	Needs:       "SQL",
	Start:       startQuery,
	Want:        wantQuery,
	Ops:         countReads,
	Warm:        warmReads,
}

// A Probe asks for a Statement.
type Probe struct {
	DB       string `json:"db"`
	SQL      string `json:"sql"`
	Params   int    `json:"params"`
	ArgsFrom string `json:"args_from,omitempty"` // a query whose rows are arguments; "" if there are none
	Limit    int    `json:"limit"`               // of these rows
}

// Loose reports whether drivers disagree on the values in a column of a declared type. For example,
// mattn converts the values of these types to times and booleans, and other drivers return them
// unchanged.
func Loose(declared string) bool {
	switch strings.ToUpper(declared) {
	case "DATE", "DATETIME", "TIMESTAMP", "TIME", "BOOLEAN", "BOOL":
		return true
	}
	return false
}

// AddRow takes a row into an answer. It writes cells that drivers write differently, numbers and
// times, in one form, and leaves out loose columns.
func (a *Answer) AddRow(row Row, loose []bool) {
	a.Count++
	h := uint64(len(loose))
	var buf [32]byte
	for i := range loose {
		if !loose[i] {
			h = mix(h ^ fold(0, normal(row.Bytes(i), buf[:0])))
		}
	}
	a.Digest += h
}

// normal writes floats with the 15 digits that older versions of SQLite give them as a text, times
// as nanoseconds, and truth as SQLite has it.
func normal(cell, buf []byte) []byte {
	switch string(cell) {
	case "true":
		return append(buf, '1')
	case "false", "-0", "-0.0":
		return append(buf, '0')
	case "+Inf":
		return append(buf, "Inf"...)
	}
	if len(cell) == 0 || len(cell) > 40 || (cell[0] < '0' || cell[0] > '9') && cell[0] != '-' {
		return cell
	}
	if len(cell) >= len(time.DateOnly) && cell[4] == '-' && cell[7] == '-' {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999-07:00", time.DateTime, time.DateOnly} {
			if t, err := time.Parse(layout, string(cell)); err == nil {
				return strconv.AppendInt(buf, t.UnixNano(), 10)
			}
		}
		return cell
	}
	if bytes.ContainsAny(cell, ".eE") {
		if x, err := strconv.ParseFloat(string(cell), 64); err == nil {
			return strconv.AppendFloat(buf, x, 'g', 15, 64)
		}
	}
	return cell
}

// draws are the arguments that worker i uses, by their numbers.
func (j *Job) draws(phase, i, n int) []int {
	return j.draw(phase, i, n, j.Values.Int("goroutines"), len(j.Statement.Args))
}

func wantQuery(j *Job) (a Answer, err error) {
	for i := range j.Values.Int("goroutines") {
		for _, n := range j.draws(measured, i, j.Values.Int("reads")) {
			a.Plus(j.Statement.Answers[n])
		}
	}
	return a, nil
}

func startQuery(j *Job, a *API) (*Work, error) {
	db, err := a.Queries(j)
	if err != nil {
		return nil, err
	}
	return readings(j, db, func(worker int) (*reading, error) {
		q, err := db.Querier(j.Statement, j.Values["mode"])
		if err != nil {
			return nil, err
		}
		var list []int
		r := &reading{connection: q}
		r.draw = func(phase, n int) int {
			list = j.draws(phase, worker, n)
			return len(list)
		}
		take := func(row Row) error {
			r.found.AddRow(row, j.Statement.Loose)
			return nil
		}
		r.one = func(i int) error { return q.Query(j.Statement.Args[list[i]], take) }
		return r, nil
	})
}
