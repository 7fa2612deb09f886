package value

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// TimeForms lists, in the help of a command, the forms of a Moment.
const TimeForms = `TIME is a date with or without a time of day, as in 2026-05-01, "2026-05-01 12:30" or 2026-05-01T12:30:00.5+02:00;
where no zone follows, of the local zone. Or it is now, or @ and seconds since 1970.`

// A Moment is the value of a flag that sets a time.
type Moment struct{ time.Time }

func (m *Moment) Set(s string) (err error) {
	if s != "now" {
		m.Time, err = parseTime(s)
	}
	return err
}

var (
	errTime       = errors.New("expected a time like 2026-05-01 or 2026-05-01T12:30:00Z")
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

// parseTime reads a time, as TimeForms describes it.
func parseTime(s string) (t time.Time, err error) {
	seconds, isSeconds := strings.CutPrefix(s, "@")
	var ok bool
	if isSeconds {
		t, ok = parseSeconds(seconds)
	} else {
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

// parseDate tries all forms of a date with all forms of a zone. There are few.
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

// ageUnits are the units of an age.
var ageUnits = map[byte]time.Duration{
	's': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour,
}

// parseInstant reads an instant: an age such as 90s, 15m, 12h, 7d or 2w, counted from now, or what
// parseTime reads.
func parseInstant(s string, now time.Time) (time.Time, error) {
	if n := len(s) - 1; n > 0 && ageUnits[s[n]] != 0 {
		unit := ageUnits[s[n]]
		if count, err := strconv.ParseInt(s[:n], 10, 64); err == nil && count >= 0 && count <= math.MaxInt64/int64(unit) {
			return now.Add(-time.Duration(count) * unit), nil
		}
	}
	t, err := parseTime(s)
	if errors.Is(err, errTime) {
		err = errInstant
	}
	return t, err
}

var errInstant = errors.New("expected an age like 90s, 15m, 12h, 7d or 2w, or a time like 2026-05-01 or 2026-05-01T12:30:00Z")

// An Instant is a flag that parseInstant reads.
type Instant struct{ time.Time }

func (i *Instant) Set(s string) (err error) {
	i.Time, err = parseInstant(s, time.Now())
	return err
}

// Before reports whether the instant is before a time in nanoseconds since 1970; the zero instant
// is.
func (i *Instant) Before(ns int64) bool { return i.IsZero() || i.Compare(time.Unix(0, ns)) < 0 }

// After reports whether the instant is after it; the zero instant is.
func (i *Instant) After(ns int64) bool { return i.IsZero() || i.Compare(time.Unix(0, ns)) > 0 }
