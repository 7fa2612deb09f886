package value

import (
	"errors"
	"math"
	"strconv"
	"time"
)

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
