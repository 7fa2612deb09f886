package runner

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/lab/result"
)

// A stopper cancels a run before sample number at.
type stopper struct {
	silent
	at     int
	cancel context.CancelFunc
}

func (s *stopper) Sampling(done, _ int, _ string, _ time.Duration) {
	if done == s.at {
		s.cancel()
	}
}

// Wherever a run is interrupted, what was measured is kept, and the same run goes on from there.
func TestResume(t *testing.T) {
	t.Parallel()
	o := fakes(t, "good", "better")
	const all = 4 // samples: two contenders, two rounds
	for at := range all {
		ctx, cancel := context.WithCancel(context.Background())
		o.Observer = &stopper{at: at, cancel: cancel}
		if err := Run(ctx, o); !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted: %v", err)
		}
		cancel()
		s, err := result.ReadFile(o.Out)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Samples) != at || s.End == nil || !s.End.Interrupted {
			t.Fatalf("interrupted at %d, %d samples are kept, end %+v", at, len(s.Samples), s.End)
		}
	}
	o.Observer = silent{}
	s := measureFakes(t, o)
	if len(s.Samples) != all || s.End.Interrupted || s.End.Samples != all {
		t.Errorf("%d samples at the end, %+v", len(s.Samples), s.End)
	}
	before, err := os.ReadFile(o.Out)
	if err != nil {
		t.Fatal(err)
	}
	if s = measureFakes(t, o); len(s.Samples) != all {
		t.Errorf("a run that was complete has %d samples after another", len(s.Samples))
	}
	if after, _ := os.ReadFile(o.Out); !bytes.HasPrefix(after, before) {
		t.Error("what was there has changed")
	}
}

// Results of another plan are not gone on with.
func TestResumeOther(t *testing.T) {
	t.Parallel()
	o := fakes(t, "good")
	measureFakes(t, o)
	o.Values["lookup"]["reads"] = "30"
	if err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), "results of another run") {
		t.Errorf("a run with other values: %v", err)
	}
}

func TestParseSpec(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Spec{
		"mattn":               {Name: "mattn", Version: "", API: ""},
		"modernc@v1.35.0":     {Name: "modernc", Version: "v1.35.0", API: ""},
		"mattn:sql":           {Name: "mattn", Version: "", API: "sql"},
		"modernc@v1.35.0:sql": {Name: "modernc", Version: "v1.35.0", API: "sql"},
		"":                    {},
		"@v1":                 {},
		"mattn@":              {},
		"../../etc":           {},
		"modernc@../x":        {},
	} {
		got, err := ParseSpec(text)
		if got != want || (err == nil) != (want != Spec{}) {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
		if err == nil && got.String() != text {
			t.Errorf("%q is written %q", text, got)
		}
	}
}
