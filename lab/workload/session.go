package workload

import (
	"errors"
	"time"
)

// A session is a connection, or another part of a store that belongs to one goroutine.
type session interface {
	// Settings returns the settings in force, read back.
	Settings() (map[string]string, error)
	Close() error
}

// single makes work of one goroutine that does all operations in one call: do returns how many.
func single(s session, answer func() (Answer, error), do func() (ops int64, err error)) (*Work, error) {
	settings, err := s.Settings()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Work{
		Settings: []map[string]string{settings},
		Workers: []Worker{func(r *Recorder) error {
			begin := time.Now()
			n, err := do()
			r.Many(n, time.Since(begin))
			return err
		}},
		Answer: answer,
		Close:  s.Close,
	}, nil
}

// sessions opens n of them. The work tells their settings, and closes them before all else.
func sessions[S session](w *Work, n int, open func() (S, error)) (list []S, err error) {
	for range n {
		s, err := open()
		if err != nil {
			return nil, err
		}
		settings, err := s.Settings()
		if err != nil {
			return nil, err
		}
		list, w.Settings = append(list, s), append(w.Settings, settings)
	}
	rest := w.Close
	w.Close = func() error {
		var errs []error
		for _, s := range list {
			errs = append(errs, s.Close())
		}
		return errors.Join(append(errs, rest())...)
	}
	return list, nil
}
