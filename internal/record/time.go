package record

import (
	"strings"
	"time"
)

// Times, in the three forms that SQLite's own date and time functions know. SQLite has no type for
// them:
//
//	TEXT      YYYY-MM-DD HH:MM:SS.SSS with fewer parts, a T in between, and Z or an offset behind,
//	          as those functions read it
//	REAL      days since noon in Greenwich on November 24, 4714 B.C.: the Julian day
//	INTEGER   seconds since 1970-01-01 00:00:00 UTC
//
// A time.Time is written as timeLayout in UTC: TEXT that has as many digits behind the second as it
// needs, up to nine. So nothing is lost, the texts sort like the times, and a whole second looks
// like CURRENT_TIMESTAMP.
const timeLayout = "2006-01-02 15:04:05.999999999"

// SQLite knows times in the years from 0 to 9999 as text, and from 4714 B.C. on as numbers.
const (
	julianDayMillis = 86_400_000
	julianUnix      = 210_866_760_000_000 // 1970 in milliseconds of the Julian day
	maxJulianMillis = 464_269_060_799_999
	minUnix         = -julianUnix / 1000
	maxUnix         = 253_402_300_799
)

// TimeOf returns the time that a value tells.
func TimeOf(v *Value) (t time.Time, ok bool) {
	switch v.Kind() {
	case Null:
		return t, true
	case Integer:
		return time.Unix(v.Int(), 0).UTC(), v.Int() >= minUnix && v.Int() <= maxUnix
	case Float:
		return julianTime(v.Float())
	case Text:
		return parseTime(v.Text())
	}
	return t, false
}

// julianTime returns the time of a Julian day, to the millisecond, as SQLite does.
func julianTime(day float64) (t time.Time, ok bool) {
	if !(day >= 0 && day < 5373484.5) {
		return t, false
	}
	return time.UnixMilli(int64(day*julianDayMillis+0.5) - julianUnix).UTC(), true
}

// AppendTime appends the text of a time, unless the year has other than four digits.
func AppendTime(b []byte, t time.Time) ([]byte, bool) {
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return b, false
	}
	return t.AppendFormat(b, timeLayout), true
}

// A timeScanner reads the text of a time from its start.
type timeScanner struct{ rest string }

// parseTime returns the time that a text tells.
func parseTime(text string) (t time.Time, ok bool) {
	if t, ok = parseDate(text); ok {
		return t, true
	}
	s := timeScanner{text}
	if clock, ok := s.clock(); ok {
		return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(clock), s.rest == ""
	}
	switch n := ParseNumber(text); n.Kind {
	case Integer:
		return julianTime(float64(n.Int))
	case Float:
		return julianTime(n.Float)
	}
	return t, false
}

// parseDate returns the time of a text that begins with a date.
func parseDate(text string) (t time.Time, ok bool) {
	s := timeScanner{text}
	negative := s.accept('-')
	year, ok1 := s.digits(4, 0, 9999)
	month, ok2 := s.after('-', 1, 12)
	day, ok3 := s.after('-', 1, 31)
	if !ok1 || !ok2 || !ok3 {
		return t, false
	}
	if negative {
		year = -year
	}
	t = time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	s.rest = strings.TrimLeft(s.rest, "T \t\n\v\f\r")
	if s.rest == "" {
		return t, inRange(t)
	}
	clock, ok := s.clock()
	t = t.Add(clock)
	return t, ok && s.rest == "" && inRange(t)
}

// inRange reports whether SQLite can tell a time.
func inRange(t time.Time) bool {
	ms := t.UnixMilli() + julianUnix
	return ms >= 0 && ms <= maxJulianMillis
}

// clock reads HH:MM, HH:MM:SS or HH:MM:SS.SSS and an offset, as the time since midnight UTC.
func (s *timeScanner) clock() (d time.Duration, ok bool) {
	hour, ok1 := s.digits(2, 0, 24)
	minute, ok2 := s.after(':', 0, 59)
	if !ok1 || !ok2 {
		return 0, false
	}
	d = time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
	if s.accept(':') {
		second, ok := s.digits(2, 0, 59)
		if !ok {
			return 0, false
		}
		d += time.Duration(second)*time.Second + s.fraction()
	}
	offset, ok := s.offset()
	return d - offset, ok
}

// fraction reads a point and the digits behind it; those behind the ninth are dropped. A point
// without a digit behind it stays.
func (s *timeScanner) fraction() (d time.Duration) {
	if len(s.rest) < 2 || s.rest[0] != '.' || s.rest[1] < '0' || s.rest[1] > '9' {
		return 0
	}
	n := countDigits(s.rest[1:])
	for i, unit := 1, 100*time.Millisecond; i <= n; i, unit = i+1, unit/10 {
		d += time.Duration(s.rest[i]-'0') * unit
	}
	s.rest = s.rest[1+n:]
	return d
}

// offset reads Z, +HH:MM, -HH:MM or nothing, with space around it.
func (s *timeScanner) offset() (d time.Duration, ok bool) {
	s.skipSpace()
	sign := time.Duration(1)
	switch {
	case s.accept('Z'), s.accept('z'):
		s.skipSpace()
		return 0, true
	case s.accept('-'):
		sign = -1
	case !s.accept('+'):
		return 0, s.rest == ""
	}
	hour, ok1 := s.digits(2, 0, 14)
	minute, ok2 := s.after(':', 0, 59)
	s.skipSpace()
	return sign * (time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute), ok1 && ok2
}

func (s *timeScanner) skipSpace() { s.rest = strings.TrimLeft(s.rest, " \t\n\v\f\r") }

// accept reads a byte if it is the next one.
func (s *timeScanner) accept(c byte) bool {
	if s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// digits reads a number of n digits between two bounds.
func (s *timeScanner) digits(n, low, high int) (v int, ok bool) {
	if len(s.rest) < n || countDigits(s.rest[:n]) < n {
		return 0, false
	}
	for i := range n {
		v = 10*v + int(s.rest[i]-'0')
	}
	s.rest = s.rest[n:]
	return v, v >= low && v <= high
}

// after reads a byte and a number of two digits between two bounds.
func (s *timeScanner) after(c byte, low, high int) (v int, ok bool) {
	if !s.accept(c) {
		return 0, false
	}
	return s.digits(2, low, high)
}
