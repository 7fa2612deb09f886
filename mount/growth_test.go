//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"math"
	"testing"
)

// TestTell asks an extent in each state for the size to tell.
func TestTell(t *testing.T) {
	read := extent{size: 5000, since: 10, content: true}
	written := extent{size: 5000, since: 10, content: true, own: 6000, writer: 7}
	crossed := extent{size: 5000, since: 10, content: true, own: 9000, writer: 7}
	changing := extent{size: 5000, since: 10, content: true, own: 6000, writer: 7, active: 1}
	for name, c := range map[string]struct {
		extent  extent
		size    int64 // of the file
		to      asker
		growing bool
		want    int64 // 0 if the kernel must learn the size first
		after   int64 // what the kernel knows then
	}{
		"same":                      {extent: read, size: 5000, want: 5000, after: 5000},
		"grown elsewhere":           {extent: read, size: 5001, to: asker{at: 11}, after: 5000},
		"cut elsewhere":             {extent: read, size: 100, to: asker{at: 10}, want: 100, after: 100},
		"older than the size":       {extent: read, size: 100, to: asker{at: 9}, want: 100, after: 5000},
		"older, and taken":          {extent: read, size: 100, to: asker{at: always}, want: 100, after: 100},
		"written here":              {extent: written, size: 6000, to: asker{thread: 8, at: 11}, want: 6000, after: 5000},
		"written here, a page more": {extent: crossed, size: 9000, to: asker{thread: 8, at: 11}, after: 5000},
		"asked by the writer":       {extent: crossed, size: 9000, to: asker{thread: 7, at: 11}, want: 9000, after: 9000},
		"written, and elsewhere":    {extent: written, size: 6001, to: asker{thread: 7, at: 11}, after: 5000},
		"while it changes":          {extent: changing, size: 7000, to: asker{at: 11}, want: 6000, after: 5000},
		"while it grows":            {extent: changing, size: 7000, to: asker{at: 11}, growing: true, after: 5000},
	} {
		got, ok := c.extent.tell(c.size, c.to, c.growing)
		if ok != (c.want > 0) || ok && got != c.want || c.extent.size != c.after {
			t.Errorf("%s: told %d, %v; the kernel knows %d", name, got, ok, c.extent.size)
		}
	}
}

// TestWrote changes a file of 5,000 bytes in several ways.
func TestWrote(t *testing.T) {
	all := int64(math.MaxInt64)
	for name, c := range map[string]struct {
		content bool
		change  resize
		forget  contentRange
		size    int64
		own     int64
	}{
		"never read":        {change: resize{before: 5000, after: 6000, start: 5000, end: 6000, past: true}, size: 6000},
		"through the cache": {change: resize{before: 5000, after: 6000, start: 5000, end: 6000, cached: true}, size: 5000, own: 6000},
		"within":            {content: true, change: resize{before: 5000, after: 5000, end: 10, cached: true}, size: 5000},
		"past the cache": {
			content: true, change: resize{before: 5000, after: 6000, start: 5000, end: 6000, past: true},
			forget: contentRange{5000, 6000}, size: 5000,
		},
		"behind what another program has written": {
			content: true, change: resize{before: 5500, after: 6000, start: 5500, end: 6000, cached: true},
			forget: contentRange{5000, all}, size: 5000,
		},
		"an append elsewhere": {
			content: true, change: resize{before: 5500, after: 6500, start: 4900, end: 5900, cached: true, moved: true},
			forget: contentRange{4900, all}, size: 5000,
		},
		"cut": {content: true, change: resize{before: 5000, after: 10, start: 10, end: 10}, size: 10},
	} {
		e := extent{size: 5000, content: c.content}
		forget, ok := e.wrote(&c.change, 1)
		if forget != c.forget || ok != (c.forget.end > 0) || e.size != c.size || e.own != c.own {
			t.Errorf("%s: forget %v, %v; %+v", name, forget, ok, e)
		}
	}
}
