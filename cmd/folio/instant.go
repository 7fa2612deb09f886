package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ageUnits are the units of an age.
var ageUnits = map[byte]time.Duration{
	's': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour,
}

// dateLayouts are the ways to write an instant, in local time unless it says otherwise.
var dateLayouts = []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"}

// parseInstant reads an instant: an age such as 90s, 15m, 12h, 7d or 2w, counted from now, or a date.
func parseInstant(s string, now time.Time) (time.Time, error) {
	if n := len(s) - 1; n > 0 && ageUnits[s[n]] != 0 {
		unit := ageUnits[s[n]]
		if count, err := strconv.ParseInt(s[:n], 10, 64); err == nil && count >= 0 && count <= int64(1<<63-1)/int64(unit) {
			return now.Add(-time.Duration(count) * unit), nil
		}
	}
	for _, layout := range dateLayouts {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: write an age such as 90s, 15m, 12h, 7d or 2w, or a date such as %s", s,
		strings.Join(dateLayouts[2:], " or "))
}

// An instant is a flag that parseInstant reads.
type instant struct {
	time.Time
	text string
}

func (i *instant) String() string { return i.text }
func (i *instant) Type() string   { return "time" }

func (i *instant) Set(s string) (err error) {
	i.Time, err = parseInstant(s, time.Now())
	i.text = s
	return err
}

// before reports whether the instant is before a time in nanoseconds since 1970; the zero instant is.
func (i *instant) before(ns int64) bool { return i.IsZero() || i.Compare(time.Unix(0, ns)) < 0 }

// after reports whether the instant is after it; the zero instant is.
func (i *instant) after(ns int64) bool { return i.IsZero() || i.Compare(time.Unix(0, ns)) > 0 }
