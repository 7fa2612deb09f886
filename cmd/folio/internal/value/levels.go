package value

import (
	"errors"
	"strconv"
)

// Levels is the value of a flag that limits how deep a command goes. Below 0, which is only ever a
// default, there is no limit.
type Levels int

// Set is the function of a flag. It accepts 0 and more.
func (l *Levels) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return errors.New("expected a number from 0 on")
	}
	*l = Levels(n)
	return nil
}
