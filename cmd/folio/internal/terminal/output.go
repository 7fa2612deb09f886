package terminal

import "io"

// An Output remembers the error of its writer. So it can be told from an error of reading.
type Output struct {
	W   io.Writer
	Err error
}

func (o *Output) Write(p []byte) (int, error) {
	n, err := o.W.Write(p)
	if err != nil {
		o.Err = err
	}
	return n, err
}
