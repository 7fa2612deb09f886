package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/foliofs/folio/lab/claim"
	"github.com/foliofs/folio/lab/runner"
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

// Progress moves the bar. Each step of a run has a new one. Progress, Note and Ended implement
// runner.Observer, with Judged claim.Observer.
func (p *progress) Progress(step, next string, done, all int) {
	if step == runner.Building {
		p.said = time.Time{} // each build has a line: some take a minute
	}
	if !p.c.terminal {
		p.line(step, next, done, all)
		return
	}
	if p.what != step {
		p.Ended()
		p.what = step
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
	p.bar.Describe(step + " " + next)
	_ = p.bar.Set(done)
}

// line prints how far the step is, unless it has just done so.
func (p *progress) line(step, next string, done, all int) {
	if p.what == step && time.Since(p.said) < lineInterval {
		return
	}
	fmt.Fprintf(p.c.stderr, "lab: %s, %d of %d done: %s\n", step, done, all, next)
	p.what, p.said = step, time.Now()
}

// Ended takes the bar off the screen.
func (p *progress) Ended() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar, p.what = nil, ""
	}
}

// say writes a line.
func (p *progress) say(format string, args ...any) {
	p.Ended()
	fmt.Fprintf(p.c.stderr, format+"\n", args...)
}

// Judged tells the verdict of a claim.
func (p *progress) Judged(c *claim.Claim, r *claim.Result) {
	switch {
	case r.Figure == nil:
		p.say("lab: %s: %s: %s", c.Name, r.Verdict, r.Reason)
	case c.Asked == nil:
		p.say("lab: %s: %s", c.Name, short(r.Figure.Value))
	default:
		p.say("lab: %s: %s, asked %s: %s", c.Name, short(r.Figure.Value), asked(c), r.Verdict)
	}
}

// Note writes a line.
func (p *progress) Note(line string) { p.say("lab: %s", line) }
