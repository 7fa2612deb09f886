package serve

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/match"
	"github.com/foliofs/folio/serve/internal/page"
)

// Limits of searches.
const (
	searchesAtOnce = 4
	maxResults     = 1000
	maxFileResults = 20      // lines of one file
	maxQuery       = 200     // bytes
	maxSearched    = 8 << 20 // bytes of a file; a longer one is left out
	maxShownLine   = 400     // bytes
	searchTime     = 60 * time.Second
	searchBatch    = 16 // files
	searchAhead    = 64 // batches that wait
)

var errSearches = &failure{status: http.StatusServiceUnavailable, message: "Too many searches go on at once. Try again.", header: http.Header{"Retry-After": {"5"}}}

// A search goes through a directory in one moment: a walk lists files, and for a search of contents
// workers read them, several at once and in batches. Their results are written in the order of the
// walk, as soon as all before them are.
//
//	walk -> todo -> work -> batch.found ---> write
//	    `-> order -------------------------^
type search struct {
	c       *call
	p       *place
	dir     string // that is searched, in the volume
	query   string
	pattern *match.Pattern // nil for names

	todo, order chan *batch
	cur         *batch
	searched    int
}

// A batch is a run of files on its way through a search.
type batch struct {
	files []*walked
	found chan []page.Result // all of them at once
}

// answerSearch answers with the page of results in a tree, "" or "/NAME", while it finds them.
func answerSearch(c *call, tree string) error {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return errMethod
	}
	q := c.r.URL.Query()
	target := tree + "/" + strings.Trim(q.Get("path"), "/")
	if at := q.Get("at"); at != "" {
		target = snapshotPath + at + target
	}
	if err := checkTarget(&url.URL{Path: target}); err != nil {
		return err
	}
	p, err := c.find(target)
	if err != nil {
		return err
	}
	defer p.release()
	if p.tree == nil {
		return errNoDir
	}
	s := &search{c: c, p: p, query: q.Get("q")}
	if len(s.query) > maxQuery {
		return refuse(http.StatusBadRequest, "The text to look for is too long.")
	}
	content := q.Get("content") == "1"
	if content && !utf8.ValidString(s.query) {
		return refuse(http.StatusBadRequest, "The text to look for is UTF-8.")
	}
	if content && s.query != "" {
		if s.pattern, err = match.Compile([]string{s.query}, match.Options{IgnoreCase: true, Fixed: true}); err != nil {
			return err
		}
	}
	return s.answer(content)
}

// answer writes the page.
func (s *search) answer(content bool) error {
	ctx, cancel := context.WithTimeout(s.c.r.Context(), searchTime)
	defer cancel()
	err := s.p.view(ctx, func(rx *folio.Rx) (err error) {
		if s.dir, err = s.p.resolve(rx, s.p.name, true, rightRead); err != nil {
			return err
		}
		if info, err := rx.Lstat(s.dir); err != nil || !info.IsDir() {
			return errNoDir
		}
		return nil
	})
	if err != nil {
		return err
	}
	from := s.c.s.countedBy(s.c.client)
	if !s.c.s.searches.enter(from) {
		return errSearches
	}
	defer s.c.s.searches.leave(from)
	s.c.startPage(http.StatusOK)
	frame := s.c.frame(s.p)
	results, err := s.c.s.pages.StartSearch(s.c.w, &page.Search{Frame: frame, Query: s.query, Content: content})
	if err != nil || s.query == "" && results.End(page.Outcome{}) == nil {
		return err
	}
	s.c.w.Flush()
	return results.End(s.run(ctx, results))
}

var errEnough = errors.New("enough")

// run searches, and writes the results.
func (s *search) run(ctx context.Context, results *page.Results) page.Outcome {
	start := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.todo, s.order = make(chan *batch, searchAhead), make(chan *batch, searchAhead)
	var group sync.WaitGroup
	var walkErr error
	group.Go(func() {
		defer close(s.todo)
		defer close(s.order)
		walkErr = s.p.view(ctx, func(rx *folio.Rx) error { return s.walk(ctx, rx) })
	})
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() { s.work(ctx) })
	}
	found, err := s.write(results)
	cancel()
	for range s.order { // until the walk has ended
	}
	group.Wait()
	out := page.Outcome{Found: found, Searched: s.searched, Took: time.Since(start), Limited: err == errEnough}
	switch err := errors.Join(walkErr, err); {
	case out.Limited || err == nil:
	case errors.Is(err, context.DeadlineExceeded):
		out.Error = "The search took too long."
	default:
		s.c.err = err
		out.Error = s.c.failureOf(err).message
	}
	return out
}

// walk collects the files to be searched in batches: those that have the query in their names, or
// for a search of contents all that are not too large.
func (s *search) walk(ctx context.Context, rx *folio.Rx) error {
	name := page.Fold(s.query)
	err := s.p.walk(ctx, rx, s.dir, func(w *walked) error {
		s.searched++
		if s.pattern == nil && !strings.Contains(page.Fold(w.info.Name()), name) {
			return nil
		}
		if s.pattern != nil && (!w.info.Mode().IsRegular() || w.info.Size() > maxSearched) {
			return nil
		}
		if s.cur == nil {
			s.cur = &batch{found: make(chan []page.Result, 1)}
		}
		if s.cur.files = append(s.cur.files, w); len(s.cur.files) < searchBatch {
			return nil
		}
		return s.send(ctx)
	})
	if err != nil || s.cur == nil {
		return err
	}
	return s.send(ctx)
}

// send passes on the batch.
func (s *search) send(ctx context.Context) error {
	b := s.cur
	s.cur = nil
	for _, to := range []chan *batch{s.todo, s.order} {
		select {
		case to <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// work searches batches, in views of its own. A file that is gone meanwhile has no results.
func (s *search) work(ctx context.Context) {
	var searcher *match.Searcher
	if s.pattern != nil {
		searcher = match.NewSearcher(s.pattern, true)
	}
	for b := range s.todo {
		var found []page.Result
		if ctx.Err() == nil {
			_ = s.p.view(ctx, func(rx *folio.Rx) error {
				for _, w := range b.files {
					found = s.file(rx, searcher, w, found)
				}
				return nil
			})
		}
		b.found <- found
	}
}

// file adds the results of one file.
func (s *search) file(rx *folio.Rx, searcher *match.Searcher, w *walked, found []page.Result) []page.Result {
	r := page.Result{Path: s.p.below(w.real), IsDir: w.info.IsDir(), Size: w.info.Size(), ModTime: w.info.ModTime()}
	if searcher == nil {
		return append(found, r)
	}
	f, err := rx.Open(w.real)
	if err != nil {
		return found
	}
	defer f.Close()
	n := 0
	_ = searcher.Search(f, func(l *match.Line) error {
		if l.Binary {
			return errEnough
		}
		r.Line, r.Text = int(l.Number), shortLine(l.Text, s.query)
		found = append(found, r)
		if n++; n >= maxFileResults {
			return errEnough
		}
		return nil
	})
	return found
}

// shortLine cuts a long line around the text that was found.
func shortLine(line []byte, query string) string {
	if len(line) <= maxShownLine {
		return string(line)
	}
	at := regexp.MustCompile("(?i)" + regexp.QuoteMeta(query)).FindIndex(line)
	start := 0
	if at != nil {
		start = max(0, at[0]-maxShownLine/4)
	}
	return string(line[start:min(len(line), start+maxShownLine)])
}

// write writes results in the order of the walk. The first come to the client at once.
func (s *search) write(results *page.Results) (found int, err error) {
	flushed := time.Now()
	for b := range s.order {
		for _, r := range <-b.found {
			if found++; found > maxResults {
				return maxResults, errEnough
			}
			if err := results.Add(r); err != nil {
				return found, err
			}
		}
		if found > 0 && found < 100 || time.Since(flushed) > 200*time.Millisecond {
			flushed = time.Now()
			s.c.w.Flush()
		}
	}
	return found, nil
}
