package terminal

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
		c := &Streams{Stderr: &out}
		c.errTerminal = true
		p := c.NewProgress("importing", false)
		p.AddBytes(100)
		for range progressFiles {
			p.AddFile()
		}
		if out.Len() > 0 {
			t.Errorf("at once: %q", out.String())
		}
		p.Total.Store(1000)
		time.Sleep(progressMoment) // the bubble's time
		p.AddBytes(300)
		time.Sleep(progressTick)
		p.AddBytes(100)
		if got := out.String(); !strings.Contains(got, "importing 64 files") || !strings.Contains(got, "50%") {
			t.Errorf("then: %q", got)
		}
		p.AddBytes(500)
		p.AddBytes(500) // more than was announced
		p.Done()
		if got := out.String(); !strings.HasSuffix(got, "\r\x1b[K") {
			t.Errorf("at the end: %q", got)
		}
	})
}

func TestProgressIsHidden(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{false, true} {
		var out bytes.Buffer
		c := &Streams{Stderr: &out}
		c.errTerminal = terminal
		p := c.NewProgress("importing", terminal)
		p.next = time.Time{}
		p.AddBytes(100)
		p.AddFile()
		p.Done()
		if out.Len() > 0 {
			t.Errorf("terminal %t: %q", terminal, out.String())
		}
	}
}
