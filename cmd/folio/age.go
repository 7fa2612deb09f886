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

// momentLayouts are the ways to write a moment, in local time unless it says otherwise.
var momentLayouts = []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"}

// parseMoment reads a moment: an age such as 90s, 15m, 12h, 7d or 2w, counted from now, or a date.
func parseMoment(s string, now time.Time) (time.Time, error) {
	if n := len(s) - 1; n > 0 && ageUnits[s[n]] != 0 {
		unit := ageUnits[s[n]]
		if count, err := strconv.ParseInt(s[:n], 10, 64); err == nil && count >= 0 && count <= int64(1<<63-1)/int64(unit) {
			return now.Add(-time.Duration(count) * unit), nil
		}
	}
	for _, layout := range momentLayouts {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: write an age such as 90s, 15m, 12h, 7d or 2w, or a date such as %s", s,
		strings.Join(momentLayouts[2:], " or "))
}

// A moment is a flag that parseMoment reads.
type moment struct {
	time.Time
	text string
}

func (m *moment) String() string { return m.text }
func (m *moment) Type() string   { return "time" }

func (m *moment) Set(s string) (err error) {
	m.Time, err = parseMoment(s, time.Now())
	m.text = s
	return err
}

// before reports whether the moment is before a time in nanoseconds since 1970; the zero moment is.
func (m *moment) before(ns int64) bool { return m.IsZero() || m.Compare(time.Unix(0, ns)) < 0 }

// after reports whether the moment is after it; the zero moment is.
func (m *moment) after(ns int64) bool { return m.IsZero() || m.Compare(time.Unix(0, ns)) > 0 }
