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

func (r *reading) base() *reading { return r }

// readings makes work of goroutines that each read by a connection, which open opens.
func readings[R reader](j *Job, db io.Closer, open func() (R, error)) (*Work, error) {
	w := &Work{Close: db.Close}
	var all []R
	_, err := sessions(w, j.Values.Int("goroutines"), func() (session, error) {
		r, err := open()
		if err != nil {
			return nil, err
		}
		all, w.Workers = append(all, r), append(w.Workers, r.read)
		return r.base().connection, nil
	})
	if err != nil {
		return nil, err
	}
	w.WarmUp = func() (int64, error) { return warmReaders(j, all) }
	w.Answer = func() (a Answer, err error) {
		for _, r := range all {
			a.Plus(r.base().found)
		}
		return a, nil
	}
	w.Prepares = func() (n int64) {
		for _, r := range all {
			n += r.base().connection.Prepares()
		}
		return n
	}
	return w, nil
}
