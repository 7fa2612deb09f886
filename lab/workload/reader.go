package workload

import (
	"errors"
	"io"
)

// Queries is a database that statements read.
type Queries interface {
	// Querier opens a connection for one goroutine, for one statement.
	Querier(s *Statement, mode string) (Querier, error)
	Close() error
}

// A Querier runs a statement on a connection of its own.
type Querier interface {
	// Query calls row for every row. The caller may change the arguments when Query has returned.
	Query(args []Value, row func(row Row) error) error
	// Begin and End surround the queries of one transaction. They are not called where each query
	// has its own.
	Begin() error
	End() error
	Connection
}

// A Statement is one that reads. Those of the lookups are known; the user's comes with the answers
// that one driver gave, which all must give.
type Statement struct {
	SQL     string `json:"sql"`
	Columns []Kind `json:"columns"`
	// Loose says of each column whether some drivers turn it into something else by its declared
	// type, such as an integer into a time.
	Loose []bool    `json:"loose"`
	Args  [][]Value `json:"args"` // integers and texts
	// Answers are the answers to each of the arguments.
	Answers []Answer `json:"answers"`
}

// A Connection is the connection of one goroutine that reads.
type Connection interface {
	session
	// Prepares counts the statements that were prepared so far.
	Prepares() int64
}

// The phases draw different reads, so that no store answers the measured ones from a memory of the
// warm-up.
const (
	measured = 1
	warming  = 2
)

// A reading is one goroutine that makes a list of reads by a connection of its own.
type reading struct {
	connection Connection
	draw       func(phase, n int) int // draws the goroutine's part of n reads; returns how many these are
	one        func(i int) error      // makes read i of the list, and adds to found
	begin, end func() error           // surround the list; may be nil

	reads int
	found Answer
}

// redraw makes a new list, and forgets the findings of the last one.
func (r *reading) redraw(phase, n int) { r.reads, r.found = r.draw(phase, n), Answer{} }

// read makes all reads of the list.
func (r *reading) read(rec *Recorder) (err error) {
	if r.begin != nil {
		if err := r.begin(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.end()) }()
	}
	for i := range r.reads {
		start := rec.Start()
		if err := r.one(i); err != nil {
			return err
		}
		rec.Stop(start)
	}
	return nil
}

// readings makes work of the goroutines of a job, which open makes by their numbers. Each makes a
// tenth of its reads to warm up.
func readings(j *Job, db io.Closer, open func(worker int) (*reading, error)) (*Work, error) {
	w := &Work{Close: db.Close}
	var all []*reading
	_, err := sessions(w, j.Values.Int("goroutines"), func() (session, error) {
		r, err := open(len(all))
		if err != nil {
			return nil, err
		}
		all, w.Workers = append(all, r), append(w.Workers, r.read)
		return r.connection, nil
	})
	if err != nil {
		return nil, err
	}
	w.WarmUp = func() (int64, error) {
		for _, r := range all {
			r.redraw(warming, int(warmReads(j)))
		}
		err := together(all, func(r *reading) error { return r.read(NewRecorder(1 << 20)) })
		for _, r := range all {
			r.redraw(measured, j.Values.Int("reads"))
		}
		return warmReads(j), err
	}
	w.Answer = func() (a Answer, err error) {
		for _, r := range all {
			a.Plus(r.found)
		}
		return a, nil
	}
	w.Prepares = func() (n int64) {
		for _, r := range all {
			n += r.connection.Prepares()
		}
		return n
	}
	return w, nil
}

// countReads is how many reads a job has, and warmReads how many it has to warm up.
func countReads(j *Job) int64 { return int64(j.Values.Int("reads")) }

func warmReads(j *Job) int64 { return countReads(j) / 10 }
