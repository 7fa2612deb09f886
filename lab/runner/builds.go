package runner

import (
	"context"
	"slices"
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

// startBuilds begins to build a program for each spec, in their order. The caller must call wait in
// the end.
func (r *run) startBuilds(ctx context.Context, specs []Spec) (builds []*build, wait func()) {
	for range specs {
		builds = append(builds, &build{done: make(chan struct{})})
	}
	var ends sync.WaitGroup
	places := make(chan struct{}, parallelBuilds)
	ends.Go(func() {
		for i, b := range builds {
			places <- struct{}{}
			ends.Go(func() {
				b.program, b.about, b.err = r.describe(ctx, specs[i])
				<-places
				close(b.done)
			})
		}
	})
	return builds, ends.Wait
}

// programs returns a spec for each program that the contenders need. Two contenders that differ in
// their API share a program.
func (o *Options) programs() []Spec {
	var list []Spec
	for _, s := range o.Contenders {
		if !slices.ContainsFunc(list, func(l Spec) bool { return l.program() == s.program() }) {
			list = append(list, s)
		}
	}
	return list
}
