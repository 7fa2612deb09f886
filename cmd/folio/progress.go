package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A progress shows on a terminal how far a command is, and shows nothing elsewhere. It belongs to one goroutine, but for
// setTotal.
type progress struct {
	bar   *progressbar.ProgressBar // nil where nothing is shown
	verb  string
	files int64
	since int // files since the description was changed
}

const (
	progressEvery = 64 // files between two looks at the description
	progressTick  = 100 * time.Millisecond
)

// progress starts one, for an unknown number of bytes.
func (c *command) progress(verb string, quiet bool) *progress {
	p := &progress{verb: verb}
	if !c.terminal.stderr || quiet {
		return p
	}
	p.bar = progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(c.stderr),
		progressbar.OptionSetDescription(verb),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(progressTick),
		progressbar.OptionFullWidth(),
		progressbar.OptionClearOnFinish(),
	)
	return p
}

func (p *progress) shown() bool { return p.bar != nil }

// setTotal says how many bytes there are in all.
func (p *progress) setTotal(bytes int64) {
	if p.bar != nil {
		p.bar.ChangeMax64(max(bytes, 1))
	}
}

// add counts a file.
func (p *progress) add(bytes int64) {
	if p.bar == nil {
		return
	}
	p.files++
	if p.since++; p.since == progressEvery {
		p.since = 0
		p.bar.Describe(fmt.Sprintf("%s %s", p.verb, count(p.files, "file", "files")))
	}
	_ = p.bar.Add64(bytes)
}

// done takes the bar off the screen.
func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Clear()
		_ = p.bar.Exit()
	}
}
