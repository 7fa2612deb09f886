package tree

import (
	"math"
	"strings"
	"time"
)

// Names are the names in a directory, sorted by their bytes.
type Names struct {
	Len int
	At  func(i int) string
}

// Pairs calls visit for each name in two directories, in order, with its place in both. A place is
// -1 if the directory does not have the name.
func Pairs(a, b Names, visit func(i, j int) error) error {
	for i, j := 0, 0; i < a.Len || j < b.Len; {
		order := 0
		switch {
		case i == a.Len:
			order = 1
		case j == b.Len:
			order = -1
		default:
			order = strings.Compare(a.At(i), b.At(j))
		}
		x, y := -1, -1
		if order <= 0 {
			x, i = i, i+1
		}
		if order >= 0 {
			y, j = j, j+1
		}
		if err := visit(x, y); err != nil {
			return err
		}
	}
	return nil
}

// SameTime reports whether a volume holds two times as the same one.
func SameTime(a, b time.Time) bool { return Nanoseconds(a) == Nanoseconds(b) }

// Nanoseconds returns a time as a volume holds it: the nearest one in its range.
func Nanoseconds(t time.Time) int64 {
	switch {
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	}
	return t.UnixNano()
}
