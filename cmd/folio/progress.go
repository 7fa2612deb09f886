package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A progress shows on a terminal how far a command is, if it takes more than a moment. Elsewhere it
// shows nothing. It belongs to one goroutine, except for total.
type progress struct {
	bar   *progressbar.ProgressBar // nil where nothing is shown
	out   *barWriter
	verb  string
	total atomic.Int64 // bytes; 0 while unknown
	max   int64        // the total that the bar knows
	bytes int64
	files int64
}

const (
	progressMoment = 300 * time.Millisecond
	progressTick   = 100 * time.Millisecond
	progressFiles  = 64 // between two changes of the number of files
)

// newProgress starts one.
func (s *streams) newProgress(verb string, quiet bool) *progress {
	p := &progress{verb: verb, out: &barWriter{w: s.stderr, from: time.Now().Add(progressMoment), width: usualBar}}
	if s.errTerminal && !quiet {
		p.setBar(-1) // the number of bytes is not known yet
	}
	return p
}

func (p *progress) setBar(total int64) {
	p.bar = progressbar.NewOptions64(
		total,
		progressbar.OptionSetWriter(p.out),
		progressbar.OptionSetDescription(p.title()),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(progressTick),
		progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine: each change is shown when it comes
		progressbar.OptionUseANSICodes(true),          // which erase a line without spaces that could wrap
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "━", SaucerPadding: " "}),
	)
	p.out.setBar(p.bar)
}

func (p *progress) shown() bool { return p.bar != nil }

// addBytes counts bytes of contents.
func (p *progress) addBytes(n int64) {
	if p.bar == nil {
		return
	}
	p.bytes += n
	if total := p.total.Load(); total != p.max {
		p.max, n = total, p.bytes
		p.setBar(total)
	}
	_ = p.bar.Add64(n)
}

// set says how many bytes of how many are done.
func (p *progress) set(done, all int64) {
	p.total.Store(all)
	p.addBytes(done - p.bytes)
}

// addFile counts a file, without its bytes.
func (p *progress) addFile() { p.addFiles(1) }

// addFiles counts some.
func (p *progress) addFiles(n int) {
	before := p.files / progressFiles
	if p.files += int64(n); p.bar != nil && p.files/progressFiles > before {
		p.bar.Describe(p.title())
	}
}

func (p *progress) title() string {
	if p.files == 0 {
		return p.verb
	}
	return p.verb + " " + count(p.files, "file", "files")
}

// done takes the bar off the screen.
func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Finish()
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
