package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/foliofs/folio/lab/result"
)

// An overlooker watches that nothing is built while a look is taken, and after how many builds each
// contender has its figure.
type overlooker struct {
	silent
	t        *testing.T
	mu       sync.Mutex
	building int
	built    int
	steps    []string // "NAME after N builds"
	notes    []string
	all      func(string) // called with each step of the run; nil is for none
}

func (o *overlooker) Progress(step, next string, _, _ int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if step != Building && o.building > 0 {
		o.t.Errorf("%s %s while %d programs are built", step, next, o.building)
	}
	if o.all != nil {
		o.all(step)
	}
}

func (o *overlooker) Note(line string) { o.notes = append(o.notes, line) }

func (o *overlooker) look(_ *result.Case, samples []*result.Sample) {
	for _, s := range samples {
		o.steps = append(o.steps, fmt.Sprintf("%s after %d", s.Contender, o.built))
	}
}

// oversee makes the overlooker the observer of a run, its looks and its builds.
func oversee(t *testing.T, o *Options) *overlooker {
	w, build := &overlooker{t: t}, o.build
	o.Observer, o.Look = w, w.look
	o.build = func(ctx context.Context, s Spec) (program, error) {
		w.mu.Lock()
		w.building++
		w.mu.Unlock()
		p, err := build(ctx, s)
		w.mu.Lock()
		w.building--
		w.built++
		w.mu.Unlock()
		return p, err
	}
	return w
}

// The first figure comes after two builds, of which one is the maker of databases. A look is not in
// the results. A contender that fails in it fails again when it counts. A run that is not quick has
// one look.
func TestFirstLook(t *testing.T) {
	t.Parallel()
	names := []string{"good", "better", "crasher", "best", "mattn", "last"}
	for _, quick := range []bool{false, true} {
		o := fakes(t, names...)
		o.Quick = quick
		w := oversee(t, o)
		s := measureFakes(t, o)
		want := []string{"good after 2", "mattn after 2"}
		if quick {
			want = append(want, "better after 4")
		}
		if !slices.Equal(w.steps, want) {
			t.Errorf("quick %v: looks %q, want %q", quick, w.steps, want)
		}
		var who []string
		for _, c := range s.Contenders {
			who = append(who, c.ID)
		}
		if !slices.Equal(who, names) {
			t.Errorf("the contenders in the results are %q, want %q", who, names)
		}
		if len(s.Samples) != o.Rounds*(len(names)-1) || len(s.Failures) != 1 || s.End.Samples != len(s.Samples) {
			t.Errorf("%d samples, failures %+v, end %+v", len(s.Samples), s.Failures, s.End)
		}
		looked := slices.ContainsFunc(w.notes, func(n string) bool { return strings.HasPrefix(n, "failed in its first look: ") })
		if looked != quick {
			t.Errorf("quick %v: notes %q", quick, w.notes)
		}
	}
}

// If everything is built soon there is no look: nothing is gained by one.
func TestNoFirstLook(t *testing.T) {
	t.Parallel()
	o := fakes(t, "good", "mattn")
	w := oversee(t, o)
	if measureFakes(t, o); len(w.steps) > 0 {
		t.Errorf("nothing is left to be built, and looks %q", w.steps)
	}
}

// A run that is interrupted in a look has no samples, and the same run continues.
func TestFirstLookInterrupted(t *testing.T) {
	t.Parallel()
	o := fakes(t, "good", "mattn", "better")
	w := oversee(t, o)
	ctx, cancel := context.WithCancel(context.Background())
	w.all = func(step string) {
		if step == Looking {
			cancel()
		}
	}
	if err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	if s, err := result.ReadFile(o.Out); err != nil || len(s.Samples) > 0 || !s.End.Interrupted {
		t.Fatalf("after an interruption in a look: %+v, %v", s, err)
	}
	if s := measureFakes(t, o); len(s.Samples) != 3*o.Rounds || s.End.Interrupted {
		t.Errorf("resumed: %d samples, end %+v", len(s.Samples), s.End)
	}
}

// A shared database is made by the same contender with a look and without.
func TestMakerKnown(t *testing.T) {
	t.Parallel()
	o := fakes(t, "good", "better", "modernc", "mattn", "ncruces")
	var order []string
	for _, s := range o.programs() {
		order = append(order, s.Name)
	}
	if want := []string{"good", "mattn", "ncruces", "modernc", "better"}; !slices.Equal(order, want) {
		t.Errorf("built in the order %q, want %q", order, want)
	}
	maker := func(name string) *participant {
		p := &participant{record: result.Contender{Name: name}}
		p.about.Makes = true
		return p
	}
	for _, tt := range []struct {
		entered, waiting string
		want             bool
	}{
		{"good", "mattn", false},
		{"good", "better", true},
		{"good mattn", "ncruces", true},
		{"good ncruces", "modernc better", true},
		{"modernc", "ncruces", false},
		{"", "", false},
	} {
		r := &run{o: o}
		for _, name := range strings.Fields(tt.entered) {
			r.participants = append(r.participants, maker(name))
		}
		var waiting []Spec
		for _, name := range strings.Fields(tt.waiting) {
			waiting = append(waiting, Spec{Name: name})
		}
		if got := r.makerKnown(waiting); got != tt.want {
			t.Errorf("entered %q, waiting %q: %v", tt.entered, tt.waiting, got)
		}
	}
}
