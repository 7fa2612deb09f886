package terminal

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// A Progress shows on a terminal how far a command is, if it takes more than a moment. Elsewhere it
// shows nothing. It belongs to one goroutine, except for total.
type Progress struct {
	bar   *progressbar.ProgressBar // nil where nothing is shown
	out   *barWriter
	verb  string
	Total atomic.Int64 // bytes; 0 while unknown
	max   int64        // the total that the bar knows
	Bytes int64
	files int64
}

const (
	progressMoment = 300 * time.Millisecond
	progressTick   = 100 * time.Millisecond
	progressFiles  = 64 // between two changes of the number of files
)

// NewProgress starts one.
func (s *Streams) NewProgress(verb string, quiet bool) *Progress {
	p := &Progress{verb: verb, out: &barWriter{w: s.Stderr, from: time.Now().Add(progressMoment), width: usualBar}}
	if s.errTerminal && !quiet {
		p.setBar(-1) // the number of bytes is not known yet
	}
	return p
}

func (p *Progress) setBar(total int64) {
	p.bar = progressbar.NewOptions64(
		total,
		progressbar.OptionSetWriter(p.out),
		progressbar.OptionSetDescription(p.title()),
		progressbar.OptionShowBytes(true),
		progressbar.OptionUseIECUnits(true),
		progressbar.OptionThrottle(progressTick),
		progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine: each change is shown when it comes
		progressbar.OptionUseANSICodes(true),          // which erase a line without spaces that could wrap
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "━", SaucerPadding: " "}),
	)
	p.out.setBar(p.bar)
}

// Shown reports whether there is a terminal to show it.
func (p *Progress) Shown() bool { return p.bar != nil }

// AddBytes counts bytes of contents.
func (p *Progress) AddBytes(n int64) {
	if p.bar == nil {
		return
	}
	p.Bytes += n
	if total := p.Total.Load(); total != p.max {
		p.max, n = total, p.Bytes
		p.setBar(total)
	}
	_ = p.bar.Add64(n)
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
	if p.files += int64(n); p.bar != nil && p.files/progressFiles > before {
		p.bar.Describe(p.title())
	}
}

func (p *Progress) title() string {
	if p.files == 0 {
		return p.verb
	}
	return p.verb + " " + value.Count(p.files, "file", "files")
}

// Hide takes the bar off the screen until it changes, so that a line can be written.
func (p *Progress) Hide() {
	if p.bar != nil {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// Done takes the bar off the screen.
func (p *Progress) Done() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.Hide()
	}
}
