package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/foliofs/folio/lab/claim"
	"github.com/foliofs/folio/lab/result"
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
		p.clear()
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

// clear takes the bar off the screen.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar, p.what = nil, ""
	}
}

// say writes a line.
func (p *progress) say(format string, args ...any) {
	p.clear()
	fmt.Fprintf(p.c.stderr, format+"\n", args...)
}

// Building, Making, Sampling, Skipped, Failed and Ended implement runner.Observer.
func (p *progress) Building(contender string, done, all int) {
	p.said = time.Time{} // each build has a line: some take a minute
	p.show("building", done, all, contender)
}

func (p *progress) Making(rows, all int) { p.show("making the database", rows, all, "rows") }

func (p *progress) Sampling(done, all int, next string) { p.show("measuring", done, all, next) }

// Measuring, Judged and Note implement claim.Observer.
func (p *progress) Measuring(source, what string, done, all int) {
	p.show("measuring "+source, done, all, what)
}

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

func (p *progress) Note(text string) { p.say("lab: %s", text) }

func (p *progress) Skipped(s *result.Skip) { p.say("lab: skipped %s", s) }

func (p *progress) Failed(f *result.Failure) {
	p.say("lab: failed: %s in %s: %s: %s", f.Contender, f.Case, f.Kind, f.Error)
}

func (p *progress) Ended() { p.clear() }
