package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A progress shows how far a run is: as a bar on a terminal, elsewhere by a line for each step that
// begins, and then one every lineInterval. It also reports each error in a line.
type progress struct {
	c    *command
	bar  *progressbar.ProgressBar // nil where nothing is shown
	what string                   // the bar or the last line is about
	said time.Time                // of the last line
}

// lineInterval is the time between two lines about the same thing.
const lineInterval = 15 * time.Second

func (c *command) newProgress() *progress { return &progress{c: c} }

// show moves the bar. Each step of a run has a new one.
func (p *progress) show(what string, done, all int, detail string) {
	if !p.c.terminal {
		p.line(what, done, all, detail)
		return
	}
	if p.what != what {
		p.Ended()
		p.what = what
		p.bar = progressbar.NewOptions(
			all,
			progressbar.OptionSetWriter(p.c.stderr),
			progressbar.OptionSetWidth(20),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetTheme(progressbar.Theme{Saucer: "━", SaucerPadding: " "}),
		)
	}
	p.bar.ChangeMax(all)
	p.bar.Describe(what + " " + detail)
	_ = p.bar.Set(done)
}

// line prints how far the step is, unless it has just done so.
func (p *progress) line(what string, done, all int, detail string) {
	if p.what == what && time.Since(p.said) < lineInterval {
		return
	}
	fmt.Fprintf(p.c.stderr, "lab: %s, %d of %d done: %s\n", what, done, all, detail)
	p.what, p.said = what, time.Now()
}

// Progress, Note and Ended implement runner.Observer. Each build has a line, as some take a minute.
func (p *progress) Progress(step, next string, done, all int) {
	if step == "building" {
		p.said = time.Time{}
	}
	p.show(step, done, all, next)
}

func (p *progress) Note(line string) {
	p.Ended()
	fmt.Fprintf(p.c.stderr, "lab: %s\n", line)
}

// Ended takes the bar off the screen.
func (p *progress) Ended() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar, p.what = nil, ""
	}
}
