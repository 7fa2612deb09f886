package runner

import (
	"context"
	"sync"

	"github.com/foliofs/folio/lab/workload"
)

// parallelBuilds is the number of programs that are built at a time. A C compiler keeps one
// processor busy for most of a build of a driver in C, and the go command keeps the other
// processors busy.
const parallelBuilds = 2

// A build is the result of building one program.
type build struct {
	done    chan struct{} // closed when the fields below are final
	program program
	about   *workload.About
	err     error
}

// builds are the builds of a run, by the name of the program. Two contenders that differ in their
// API share a program.
type builds struct {
	sync.WaitGroup
	byProgram map[string]*build
}

// startBuilds begins to build the programs of all contenders, in their order. The caller must call
// Wait in the end.
func (r *run) startBuilds(ctx context.Context) *builds {
	all := &builds{byProgram: make(map[string]*build)}
	var specs []Spec
	for _, s := range r.o.Contenders {
		if all.byProgram[s.program()] == nil {
			all.byProgram[s.program()] = &build{done: make(chan struct{})}
			specs = append(specs, s)
		}
	}
	next := make(chan Spec)
	go func() {
		defer close(next)
		for _, s := range specs {
			next <- s
		}
	}()
	for range min(parallelBuilds, len(specs)) {
		all.Go(func() {
			for s := range next {
				b := all.byProgram[s.program()]
				b.program, b.about, b.err = r.describe(ctx, s)
				close(b.done)
			}
		})
	}
	return all
}

// of waits for the program of a contender.
func (all *builds) of(s Spec) *build {
	b := all.byProgram[s.program()]
	<-b.done
	return b
}
