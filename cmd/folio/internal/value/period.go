package value

import (
	"errors"
	"strconv"
)

// A Limit is the value of a flag that is a number, or unlimited, which is -1.
type Limit int

// Set is the function of a flag.
func (l *Limit) Set(s string) error {
	if s == "unlimited" {
		s = "-1"
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < -1 {
		return errors.New("expected a number from 0 on, or unlimited")
	}
	*l = Limit(n)
	return nil
}

// A Period is the value of a flag that is a time of the calendar.
type Period struct{ Years, Months, Days, Hours int }

var errPeriod = errors.New("expected a duration like 7d or 2y5m7d3h, in years, months, days and hours")

// maxPeriod is the largest number of years, months, days or hours.
const maxPeriod = 1_000_000

// Set is the function of a flag.
func (p *Period) Set(s string) error {
	parts := map[byte]*int{'y': &p.Years, 'm': &p.Months, 'd': &p.Days, 'h': &p.Hours}
	for from := 0; from < len(s); {
		end := from
		for end < len(s) && s[end] >= '0' && s[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(s[from:end])
		if err != nil || n > maxPeriod || end == len(s) || parts[s[end]] == nil {
			return errPeriod
		}
		*parts[s[end]] = n
		delete(parts, s[end])
		from = end + 1
	}
	if *p == (Period{}) {
		return errPeriod
	}
	return nil
}

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
