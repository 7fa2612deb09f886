package grep

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"strconv"
	"sync"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/internal/match"
)

// Sizes that bound the memory of a search.
const (
	searchFiles = 16       // files in a batch
	searchAhead = 256      // batches that wait
	foundSize   = 64 << 10 // bytes of output that are passed on as one
	foundAhead  = 4        // how many of those a batch holds before its worker waits
)

// A search goes through the files of one argument of grep.
//
// The walk lists files, in batches and in order. Workers search them concurrently, each in a view
// of its own, and print writes their output, batch by batch:
//
//	walk -> todo -> work -> batch.found ---> print
//	    `-> order -------------------------^
//
// Workers take batches in their order. So print never waits for a batch behind another batch that
// waits for print.
type search struct {
	*Query
	ctx         context.Context
	loc         location.Location
	todo, order chan *searchBatch
	err         error // of walk; set before order is closed

	// The walk's.
	walker listing.Walker
	cur    *searchBatch
}

// A searchBatch is a run of files on its way through a search.
type searchBatch struct {
	paths []string
	found chan []byte // output; closed when all was searched
	err   error       // set before that
}

// run searches on all cores, and writes the output.
func (s *search) run(ctx context.Context, v *folio.Volume, info fs.FileInfo) error {
	ctx, cancel := context.WithCancel(ctx)
	s.ctx = ctx
	s.todo, s.order = make(chan *searchBatch, searchAhead), make(chan *searchBatch, searchAhead)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	group.Go(func() {
		defer close(s.todo)
		defer close(s.order)
		s.err = v.View(ctx, func(rx *folio.Rx) error { return s.walk(rx, info) })
	})
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			err := v.View(ctx, s.work)
			for b := range s.todo { // it could not begin
				b.err = err
				close(b.found)
			}
		})
	}
	return s.print()
}

func (s *search) walk(rx *folio.Rx, info fs.FileInfo) error {
	s.walker = listing.NewWalker(s.loc, rx)
	s.walker.Strict = true
	s.walker.Inodes = func(fs.DirEntry) bool { return false }
	e, err := listing.OfInfo(rx, s.loc.Path, info)
	if err == nil {
		err = s.visit(&e)
	}
	if err == nil {
		err = s.send()
	}
	return err
}

func (s *search) visit(e *listing.Entry) error {
	switch {
	case e.Mode.IsDir():
		return s.walker.Each(e, s.visit)
	case e.Mode.IsRegular():
		return s.add(e.Path)
	}
	return nil
}

func (s *search) add(p string) error {
	if !s.Include.Match(path.Base(p)) {
		return nil
	}
	if s.cur == nil {
		s.cur = &searchBatch{found: make(chan []byte, foundAhead)}
	}
	if s.cur.paths = append(s.cur.paths, p); len(s.cur.paths) < searchFiles {
		return nil
	}
	return s.send()
}

// send passes on the batch, if there is one.
func (s *search) send() error {
	if s.cur == nil {
		return nil
	}
	b := s.cur
	s.cur = nil
	for _, to := range []chan *searchBatch{s.todo, s.order} {
		select {
		case to <- b:
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
	return nil
}

// print writes the results of the batches in their order, while the next ones are searched.
func (s *search) print() error {
	for b := range s.order {
		for p := range b.found {
			if p = s.ungroup(p); len(p) == 0 {
				continue
			}
			if _, err := s.Stdout.Write(p); err != nil {
				return failure.OfOutput(err)
			}
		}
		if b.err != nil {
			return b.err
		}
	}
	return s.err
}

// ungroup takes from the start of all output the line that comes between groups. Workers write it
// before each group, because they do not know which is the first.
func (g *Query) ungroup(p []byte) []byte {
	if g.printed {
		return p
	}
	g.printed = true
	if _, ok := g.context(); ok {
		p = bytes.TrimPrefix(p, []byte(groupEnd))
	}
	return p
}

func (s *search) work(rx *folio.Rx) error {
	w := &searchWorker{search: s, rx: rx, searcher: match.NewSearcher(s.Pattern, s.Numbers)}
	if c, ok := s.context(); ok {
		w.searcher.Around(c)
	}
	for b := range s.todo {
		w.batch = b
		b.err = w.files(b.paths)
		close(b.found)
	}
	return nil
}

type searchWorker struct {
	*search
	rx       *folio.Rx
	searcher *match.Searcher
	batch    *searchBatch
	out      []byte // not passed on yet

	prefix string // of each line of the current file, without the separator
	lines  int64  // that matched in it
}

func (w *searchWorker) files(paths []string) error {
	for _, p := range paths {
		if err := w.file(p); err != nil {
			return w.loc.Failure(p, err)
		}
	}
	return w.pass(0)
}

// errEnough ends the search in a file as soon as enough is known, for example for -l.
var errEnough = errors.New("enough")

// file searches one file of the batch.
func (w *searchWorker) file(p string) error {
	f, err := w.rx.Open(p)
	if err != nil {
		return err
	}
	defer f.Close()
	w.prefix, w.lines = "", 0
	if err = w.searcher.Search(f, func(l *match.Line) error { return w.line(p, l) }); err != nil && err != errEnough {
		return err
	}
	if w.lines > 0 {
		w.matched.Store(true)
	}
	if w.Count && !w.Quiet {
		w.begin(p, ':')
		w.out = append(strconv.AppendInt(w.out, w.lines, 10), '\n')
	}
	return w.pass(foundSize)
}

// line takes a line that matches, or is near one.
func (w *searchWorker) line(p string, l *match.Line) error {
	if !l.Context {
		w.lines++
	}
	switch {
	case w.Count:
		return nil
	case w.Quiet:
		return errEnough
	case w.List:
		w.out = append(append(w.out, w.title(p)...), '\n')
		return errEnough
	case l.Binary:
		w.out = append(append(w.out, w.title(p)...), ": binary file matches\n"...)
		return errEnough
	}
	if l.First {
		w.out = append(w.out, groupEnd...)
	}
	if w.Spans != nil {
		return w.spansOf(p, l)
	}
	return w.write(p, l, l.Text)
}

func (w *searchWorker) write(p string, l *match.Line, text []byte) error {
	sep := separator(l)
	w.begin(p, sep)
	if w.Numbers {
		w.out = append(strconv.AppendInt(w.out, l.Number, 10), sep)
	}
	w.out = append(append(w.out, text...), '\n')
	return w.pass(foundSize)
}

func (w *searchWorker) begin(p string, sep byte) {
	if !w.named {
		return
	}
	if w.prefix == "" {
		w.prefix = w.title(p)
	}
	w.out = append(append(w.out, w.prefix...), sep)
}

func (w *searchWorker) title(p string) string { return w.Name(w.loc.Display(p)) }

// pass passes output on, if it is more than enough.
func (w *searchWorker) pass(enough int) error {
	if len(w.out) <= enough {
		return nil
	}
	select {
	case w.batch.found <- bytes.Clone(w.out):
		w.out = w.out[:0]
		return nil
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}
