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

// startBuilds begins to build the programs of all contenders, in their order. Two contenders that
// differ in their API share a program. The builds are by the names of the programs. The caller must
// call wait in the end.
func (r *run) startBuilds(ctx context.Context) (all map[string]*build, wait func()) {
	all = make(map[string]*build)
	var ends sync.WaitGroup
	places := make(chan struct{}, parallelBuilds)
	var specs []Spec
	for _, s := range r.o.Contenders {
		if all[s.program()] == nil {
			all[s.program()] = &build{done: make(chan struct{})}
			specs = append(specs, s)
		}
	}
	ends.Go(func() {
		for _, s := range specs {
			places <- struct{}{}
			ends.Go(func() {
				b := all[s.program()]
				b.program, b.about, b.err = r.describe(ctx, s)
				<-places
				close(b.done)
			})
		}
	})
	return all, ends.Wait
}
