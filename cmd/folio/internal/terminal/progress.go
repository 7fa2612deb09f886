package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// A Progress shows on a terminal how far a command is, if it takes more than a moment. Elsewhere it
// shows nothing. Only one goroutine may use it, except for Total.
type Progress struct {
	w     io.Writer // nil if nothing is shown
	verb  string
	Total atomic.Int64 // bytes; 0 while unknown
	Bytes int64
	files int64
	begun time.Time
	next  time.Time // when the line may be drawn again
	drawn bool      // the line is on the screen
}

const (
	progressMoment = 300 * time.Millisecond
	progressTick   = 100 * time.Millisecond
	progressFiles  = 64 // between two changes of the number of files
	usualColumns   = 80 // of a terminal that does not tell its width
	eraseLine      = "\r\x1b[K"
)

// NewProgress starts one.
func (s *Streams) NewProgress(verb string, quiet bool) *Progress {
	now := time.Now()
	p := &Progress{verb: verb, begun: now, next: now.Add(progressMoment)}
	if s.errTerminal && !quiet {
		p.w = s.Stderr
	}
	return p
}

// Shown reports whether there is a terminal to show it.
func (p *Progress) Shown() bool { return p.w != nil }

// Expect adds the bytes that size returns, if it knows them, to the expected total. It does not
// call size if nothing is shown.
func (p *Progress) Expect(size func() (bytes int64, ok bool)) {
	if p.Shown() {
		if more, ok := size(); ok {
			p.Total.Store(p.Bytes + more)
		}
	}
}

// AddBytes counts bytes of contents.
func (p *Progress) AddBytes(n int64) {
	p.Bytes += n
	p.draw()
}

// Set says how many bytes of how many are done.
func (p *Progress) Set(done, all int64) {
	p.Total.Store(all)
	p.AddBytes(done - p.Bytes)
}

// AddFile counts a file, without its bytes.
func (p *Progress) AddFile() { p.AddFiles(1) }

// AddFiles counts some.
func (p *Progress) AddFiles(n int) {
	before := p.files / progressFiles
	if p.files += int64(n); p.files/progressFiles > before {
		p.draw()
	}
}

// draw draws the line, if it is time to.
func (p *Progress) draw() {
	if p.w == nil {
		return
	}
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next, p.drawn = now.Add(progressTick), true
	fmt.Fprint(p.w, eraseLine, p.line(now, p.columns()-1)) // the cursor stays in the line
}

// columns returns the width of the terminal. A user may change it at any time.
func (p *Progress) columns() int {
	if f, ok := p.w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return usualColumns
}

// line returns the line at a time. It has at most as many columns as there are, so that it does not
// wrap: a bar takes the space beside the text, and a text that is too long is cut off.
func (p *Progress) line(now time.Time, columns int) string {
	title := p.verb
	if p.files > 0 {
		title += " " + value.Count(p.files, "file", "files")
	}
	seconds := max(now.Sub(p.begun).Seconds(), progressTick.Seconds())
	rate := float64(p.Bytes) / seconds
	done, total := p.Bytes, p.Total.Load()
	if total <= 0 {
		return cut(fmt.Sprintf("%s (%s, %s/s)", title, value.BinarySize(done), value.BinarySize(int64(rate))), columns)
	}
	done = min(done, total) // more may come than was announced
	left := ""
	if rate >= 1 {
		left = fmt.Sprintf(", %v left", time.Duration(float64(total-done)/rate)*time.Second)
	}
	title = fmt.Sprintf("%s %3.0f%% ", title, 100*float64(done)/float64(total))
	counts := fmt.Sprintf(" (%s of %s, %s/s%s)", value.BinarySize(done), value.BinarySize(total), value.BinarySize(int64(rate)), left)
	width := max(1, columns-len(title)-len(counts))
	full := int(float64(width) * float64(done) / float64(total))
	return cut(title+strings.Repeat("━", full)+strings.Repeat(" ", width-full)+counts, columns)
}

// cut returns the beginning of a text, at most as many characters as there are columns.
func cut(text string, columns int) string {
	for i := range text {
		if columns--; columns < 0 {
			return text[:i]
		}
	}
	return text
}

// Hide takes the line off the screen until it changes, so that another one can be written.
func (p *Progress) Hide() {
	if p.drawn {
		p.drawn = false
		fmt.Fprint(p.w, eraseLine)
	}
}

// Done takes the line off the screen.
func (p *Progress) Done() { p.Hide() }
