package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A progress says nothing for a moment, then shows itself, then takes itself away.
func TestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		c := &streams{stderr: &out}
		c.errTerminal = true
		p := c.newProgress("importing", false)
		p.addBytes(100)
		for range progressFiles {
			p.addFile()
		}
		if out.Len() > 0 {
			t.Errorf("at once: %q", out.String())
		}
		p.total.Store(1000)
		time.Sleep(progressMoment) // the bubble's time
		p.addBytes(300)
		time.Sleep(progressTick)
		p.addBytes(100)
		if got := out.String(); !strings.Contains(got, "importing 64 files") || !strings.Contains(got, "50%") {
			t.Errorf("then: %q", got)
		}
		p.addBytes(500)
		p.addBytes(500) // more than was announced
		p.done()
		if got := out.String(); !strings.HasSuffix(got, "\r\x1b[K") {
			t.Errorf("at the end: %q", got)
		}
	})
}

func TestProgressIsHidden(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{false, true} {
		var out bytes.Buffer
		c := &streams{stderr: &out}
		c.errTerminal = terminal
		p := c.newProgress("importing", terminal)
		p.out.from = time.Time{}
		p.addBytes(100)
		p.addFile()
		p.done()
		if out.Len() > 0 {
			t.Errorf("terminal %t: %q", terminal, out.String())
		}
	}
}
