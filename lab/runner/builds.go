package runner

import (
	"context"
	"os"
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

// programs returns a spec for each program that the contenders need, in the order in which they are
// built. Two contenders that differ in their API share a program. The first contender comes first,
// and then the makers of shared databases, so that a first look can use one.
func (o *Options) programs() []Spec {
	var list []Spec
	for _, s := range o.Contenders {
		if !slices.ContainsFunc(list, func(l Spec) bool { return l.program() == s.program() }) {
			list = append(list, s)
		}
	}
	if len(list) > 0 {
		slices.SortStableFunc(list[1:], func(a, b Spec) int { return makerRank(a.Name) - makerRank(b.Name) })
	}
	return list
}

// unbuilt returns how many of the programs no earlier run has built.
func (o *Options) unbuilt(programs []Spec) (n int) {
	b := &builder{o.Source, o.Cache}
	for _, s := range programs {
		if _, err := os.Stat(b.path(s)); err != nil {
			n++
		}
	}
	return n
}

// Programs returns how many programs the contenders need, and how many of them no earlier run has
// built.
func (o *Options) Programs() (all, unbuilt int) {
	list := o.programs()
	return len(list), o.unbuilt(list)
}
