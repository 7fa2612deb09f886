package workload

import (
	"errors"
	"io"
)

// A Connection is the connection of one goroutine that reads.
type Connection interface {
	// Settings returns the settings of the connection, read back.
	Settings() (map[string]string, error)
	// Prepares counts the statements that were prepared so far.
	Prepares() int64
	Close() error
}

// A reading is one goroutine with a connection of its own, and its findings.
type reading struct {
	connection Connection
	found      Answer
}

// readings makes work of goroutines that each read by a connection. open opens the connection of a
// goroutine, and returns its work.
func readings(j *Job, db io.Closer, open func() (*reading, Worker, error)) (*Work, error) {
	w := &Work{}
	var all []*reading
	for range j.Values.Int("goroutines") {
		r, worker, err := open()
		if err != nil {
			return nil, err
		}
		settings, err := r.connection.Settings()
		if err != nil {
			return nil, err
		}
		all, w.Settings, w.Workers = append(all, r), append(w.Settings, settings), append(w.Workers, worker)
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
	w.Close = func() error {
		var errs []error
		for _, r := range all {
			errs = append(errs, r.connection.Close())
		}
		return errors.Join(append(errs, db.Close())...)
	}
	return w, nil
}
