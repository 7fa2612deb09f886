package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

const timeForms = `TIME is a date with or without a time of day, as in 2026-05-01, "2026-05-01 12:30" or 2026-05-01T12:30:00.5+02:00;
where no zone follows, of the local zone. Or it is an age, such as 90s, 15m, 12h, 7d or 2w, or now, or @ and seconds
since 1970.`

// A moment is the value of a flag: a time as timeForms describes it.
type moment struct{ time.Time }

func (m *moment) Set(s string) (err error) {
	m.Time, err = parseTime(s, time.Now())
	return err
}

// before reports whether the moment is before a time in nanoseconds since 1970; the zero moment is.
func (m *moment) before(ns int64) bool { return m.IsZero() || m.Compare(time.Unix(0, ns)) < 0 }

// after reports whether the moment is after it; the zero moment is.
func (m *moment) after(ns int64) bool { return m.IsZero() || m.Compare(time.Unix(0, ns)) > 0 }

var (
	errTime       = errors.New("expected a time like 2026-05-01 or 2026-05-01T12:30:00Z, or an age like 90s, 15m, 12h, 7d or 2w")
	errTimeBeyond = errors.New("a volume can hold the years 1678 to 2262")
)

// dateForms are the forms of a date. A zone may follow.
var dateForms = []string{
	"2006-01-02", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "20060102",
}

var zoneForms = []string{"", "Z07:00", " Z07:00", " -0700", "-0700"}

// The first and the last time that a volume can hold.
var (
	firstTime = time.Unix(0, math.MinInt64)
	lastTime  = time.Unix(0, math.MaxInt64)
)

func parseTime(s string, now time.Time) (t time.Time, err error) {
	if s == "now" {
		return now, nil
	}
	t, ok := parseAge(s, now)
	if seconds, isSeconds := strings.CutPrefix(s, "@"); isSeconds {
		t, ok = parseSeconds(seconds)
	} else if !ok {
		t, ok = parseDate(s)
	}
	switch {
	case !ok:
		err = errTime
	case t.Before(firstTime) || t.After(lastTime):
		err = errTimeBeyond
	}
	return t, err
}

// ageUnits are the units of an age.
var ageUnits = map[byte]time.Duration{
	's': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour,
}

// parseAge reads a number of units before now.
func parseAge(s string, now time.Time) (time.Time, bool) {
	if s == "" || ageUnits[s[len(s)-1]] == 0 {
		return time.Time{}, false
	}
	unit := ageUnits[s[len(s)-1]]
	count, err := strconv.ParseInt(s[:len(s)-1], 10, 64)
	if err != nil || count < 0 || count > math.MaxInt64/int64(unit) {
		return time.Time{}, false
	}
	return now.Add(-time.Duration(count) * unit), true
}

func parseDate(s string) (time.Time, bool) {
	for _, date := range dateForms {
		for _, zone := range zoneForms {
			if t, err := time.ParseInLocation(date+zone, s, time.Local); err == nil {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// parseSeconds reads seconds since 1970 with at most nine digits behind the point.
func parseSeconds(s string) (time.Time, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	nanos, fractionErr := strconv.ParseUint((fraction + "000000000")[:9], 10, 32)
	if err != nil || fractionErr != nil || len(fraction) > 9 {
		return time.Time{}, false
	}
	seconds = max(-1<<40, min(seconds, 1<<40)) // beyond, a time.Time is not in order
	if strings.HasPrefix(whole, "-") {
		return time.Unix(seconds, -int64(nanos)), true
	}
	return time.Unix(seconds, int64(nanos)), true
}
