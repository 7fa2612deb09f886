package workload

import "io"

// A Connection is the connection of one goroutine that reads.
type Connection interface {
	session
	// Prepares counts the statements that were prepared so far.
	Prepares() int64
}

// A reading is one goroutine with a connection of its own, and its findings.
type reading struct {
	connection Connection
	found      Answer
}

// readings makes work of goroutines that each read by a connection. open opens the connection of a
// goroutine, and returns its work.
func readings(j *Job, db io.Closer, open func() (*reading, Worker, error)) (*Work, error) {
	w := &Work{Close: db.Close}
	var all []*reading
	_, err := sessions(w, j.Values.Int("goroutines"), func() (session, error) {
		r, worker, err := open()
		if err != nil {
			return nil, err
		}
		all, w.Workers = append(all, r), append(w.Workers, worker)
		return r.connection, nil
	})
	if err != nil {
		return nil, err
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
