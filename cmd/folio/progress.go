package main

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/foliofs/folio"
	"github.com/schollz/progressbar/v3"
)

// A progress shows on a terminal how far a command is, if it takes more than a moment. Elsewhere it shows nothing. It
// belongs to one goroutine, but for total.
type progress struct {
	bar   *progressbar.ProgressBar // nil where nothing is shown
	out   *barWriter
	verb  string
	total atomic.Int64 // bytes; 0 while unknown
	max   int64        // the total that the bar knows
	bytes int64
	files int64
}

const (
	progressMoment = 300 * time.Millisecond
	progressTick   = 100 * time.Millisecond
	progressFiles  = 64 // between two changes of the number of files
)

// newProgress starts one.
func (c *command) newProgress(verb string, quiet bool) *progress {
	p := &progress{verb: verb, out: &barWriter{w: c.stderr, from: time.Now().Add(progressMoment), width: usualBar}}
	if c.terminal.stderr && !quiet {
		p.setBar(-1) // the number of bytes is not known yet
	}
	return p
}

func (p *progress) setBar(total int64) {
	p.bar = progressbar.NewOptions64(
		total,
		progressbar.OptionSetWriter(p.out),
		progressbar.OptionSetDescription(p.title()),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(progressTick),
		progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine: what comes is shown when it comes
		progressbar.OptionUseANSICodes(true),          // which erase a line without spaces that could wrap
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "━", SaucerPadding: " "}),
	)
	p.out.setBar(p.bar)
}

func (p *progress) shown() bool { return p.bar != nil }

// addBytes counts bytes of contents.
func (p *progress) addBytes(n int64) {
	if p.bar == nil {
		return
	}
	p.bytes += n
	if total := p.total.Load(); total != p.max {
		p.max, n = total, p.bytes
		p.setBar(total)
	}
	_ = p.bar.Add64(n)
}

// set says how many bytes of how many are done.
func (p *progress) set(done, all int64) {
	p.total.Store(all)
	p.addBytes(done - p.bytes)
}

// addFile counts a file, besides its bytes.
func (p *progress) addFile() { p.addFiles(1) }

// addFiles counts some.
func (p *progress) addFiles(n int) {
	before := p.files / progressFiles
	if p.files += int64(n); p.bar != nil && p.files/progressFiles > before {
		p.bar.Describe(p.title())
	}
}

func (p *progress) title() string {
	if p.files == 0 {
		return p.verb
	}
	return p.verb + " " + count(p.files, "file", "files")
}

// done takes the bar off the screen.
func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Finish()
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// A countedReader counts what is read for a progress.
type countedReader struct {
	r io.Reader
	p *progress
}

func (c countedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.p.addBytes(int64(n))
	return n, err
}

// SkipHole implements folio.SparseReader, where r does. What it passes over counts as read.
func (c countedReader) SkipHole(unit int64) (int64, error) {
	s, ok := c.r.(folio.SparseReader)
	if !ok {
		return 0, nil
	}
	n, err := s.SkipHole(unit)
	c.p.addBytes(n)
	return n, err
}

// A countedReaderAt counts what is read, in whatever order.
type countedReaderAt struct {
	r io.ReaderAt
	p *progress
}

func (c countedReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.r.ReadAt(p, off)
	c.p.addBytes(int64(n))
	return n, err
}

// NextData implements target.Ranges, where r has holes to tell. What lies before the range counts
// as read.
func (c countedReaderAt) NextData(off, size int64) (start, end int64, err error) {
	f, ok := c.r.(*folio.File)
	if !ok {
		return off, size, nil
	}
	start, err = f.Seek(off, folio.SeekData)
	if errors.Is(err, syscall.ENXIO) {
		start, end, err = size, size, nil
	} else if err == nil {
		end, err = f.Seek(start, folio.SeekHole)
	}
	if err == nil {
		c.p.addBytes(start - off)
	}
	return start, end, err
}
