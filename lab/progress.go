package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/foliofs/folio/lab/result"
)

// A progress shows on a terminal how far a run is, and says elsewhere, in a line each, what goes wrong.
type progress struct {
	c    *command
	bar  *progressbar.ProgressBar // nil where nothing is shown
	what string                   // the bar is about
}

func (c *command) newProgress() *progress { return &progress{c: c} }

// show moves the bar of what, which is a new one for each thing that a run does.
func (p *progress) show(what string, done, all int, detail string) {
	if !p.c.terminal {
		return
	}
	if p.what != what {
		p.clear()
		p.what = what
		p.bar = progressbar.NewOptions(
			all,
			progressbar.OptionSetWriter(p.c.stderr),
			progressbar.OptionSetWidth(20),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetTheme(progressbar.Theme{Saucer: "━", SaucerPadding: " "}),
		)
	}
	p.bar.ChangeMax(all)
	p.bar.Describe(what + " " + detail)
	_ = p.bar.Set(done)
}

// clear takes the bar off the screen.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	p.bar, p.what = nil, ""
}

// say writes a line.
func (p *progress) say(format string, args ...any) {
	p.clear()
	fmt.Fprintf(p.c.stderr, format+"\n", args...)
}

// Building, Making, Sampling, Skipped, Failed and Ended are those of runner.Observer.
func (p *progress) Building(contender string, done, all int) {
	p.show("building", done, all, contender)
}

func (p *progress) Making(rows, all int) { p.show("making the database", rows, all, "") }

func (p *progress) Sampling(done, all int, next string, left time.Duration) {
	detail := next
	if left > 0 {
		detail = fmt.Sprintf("%s, %s left", next, left.Round(time.Second))
	}
	p.show("measuring", done, all, detail)
}

// Measuring and Note are those of claim.Observer.
func (p *progress) Measuring(source, what string, done, all int, left time.Duration) {
	if left > 0 {
		what = fmt.Sprintf("%s, %s left of everything", what, left.Round(time.Second))
	}
	p.show("measuring "+source, done, all, what)
}

func (p *progress) Note(text string) { p.say("lab: %s", text) }

func (p *progress) Skipped(s *result.Skip) { p.say("lab: skipped %s", s) }

func (p *progress) Failed(f *result.Failure) {
	p.say("lab: failed: %s in %s: %s: %s", f.Contender, f.Case, f.Kind, f.Error)
}

func (p *progress) Ended() { p.clear() }
