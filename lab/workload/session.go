package workload

import "errors"

// A session is a connection, or whatever else one goroutine has to itself.
type session interface {
	// Settings are what is in force, read back.
	Settings() (map[string]string, error)
	Close() error
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
