package sqlitefile

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

const (
	outBufferSize = 1 << 20 // bytes; a multiple of every page size
	outBuffers    = 3       // one is filled, one is written, one lies between
)

var errTooManyPages = errors.New("more pages than a database can have")

// An outFile is a database file that is being built. It hands out pages in the order of their numbers, as slices of
// a large buffer; full buffers are written by a goroutine of their own, so that the disk works while the next pages are made.
//
// Invariants:
//
//	O1  Page n lies at offset (n-1)*pageSize and is written once, after all pages below it. Only page 1 comes last, by finish.
//	O2  next is never the lock page, nor a pointer-map page; their places in the file are filled with zeros.
//	O3  A buffer belongs to the goroutine from full until it comes back through free.
//
// It is not safe for concurrent use.
type outFile struct {
	ctx      context.Context
	file     io.WriterAt
	lazy     bool // nobody will wait for the disk
	pageSize int
	usable   int
	lockPage uint32
	pointers bool   // there are pointer-map pages
	next     uint32 // number of the next page
	gap      int    // how many pages come before next that are not handed out, and are still to be filled

	buf  []byte // outBufferSize bytes, those from start to used are filled
	base int64  // offset of buf in the file
	from int    // where the first filled byte of buf is
	used int

	full    chan outBuffer // nil before the first buffer is full
	free    chan outBuffer
	stopped bool
}

// An outBuffer goes from the builder to the writing goroutine, and comes back empty with the error so far.
type outBuffer struct {
	buf  []byte
	data []byte // the part of buf to write
	off  int64
	err  error
}

func newOutFile(ctx context.Context, file io.WriterAt, o *BuildOptions) *outFile {
	off := int64(o.firstPage-1) * int64(o.PageSize)
	f := &outFile{
		ctx: ctx, file: file, lazy: o.NoSync,
		pageSize: o.PageSize, usable: o.PageSize - o.ReservedBytes,
		lockPage: format.LockPage(o.PageSize), next: o.firstPage,
		buf:  make([]byte, outBufferSize),
		base: off &^ (outBufferSize - 1),
	}
	f.from = int(off - f.base)
	f.used = f.from
	return f
}

// pages returns the number of pages so far, page 1 among them.
func (f *outFile) pages() uint32 { return f.next - 1 - uint32(f.gap) }

// page returns the next page: its number and its usable bytes, which hold garbage and must all be overwritten before the
// next call.
func (f *outFile) page() (pgno uint32, data []byte, err error) {
	for ; f.gap > 0; f.gap-- {
		hole, err := f.slot()
		if err != nil {
			return 0, nil, err
		}
		clear(hole)
	}
	if f.next > format.MaxPage {
		return 0, nil, errTooManyPages
	}
	data, err = f.slot()
	if err != nil {
		return 0, nil, err
	}
	clear(data[f.usable:])
	pgno = f.next
	for f.next++; f.special(f.next); f.next++ {
		f.gap++
	}
	return pgno, data[:f.usable:f.usable], nil
}

// done has nothing to do: a page is written when the buffer is full.
func (f *outFile) done(uint32, []byte) error { return nil }

// special reports whether a page is one that is not handed out.
func (f *outFile) special(pgno uint32) bool {
	return pgno == f.lockPage || f.pointers && format.IsPtrmapPage(pgno, f.pageSize, f.usable)
}

// slot returns room for one page in the buffer.
func (f *outFile) slot() ([]byte, error) {
	if f.used == outBufferSize {
		if err := f.rotate(); err != nil {
			return nil, err
		}
	}
	f.used += f.pageSize
	return f.buf[f.used-f.pageSize : f.used : f.used], nil
}

// rotate hands the full buffer over and takes an empty one. Here is where cancelling and write errors are noticed.
func (f *outFile) rotate() error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	if f.full == nil {
		f.start()
	}
	f.full <- outBuffer{buf: f.buf, data: f.buf[f.from:f.used], off: f.base + int64(f.from)}
	back := <-f.free
	if back.buf == nil {
		back.buf = make([]byte, outBufferSize)
	}
	f.buf, f.from, f.used = back.buf, 0, 0
	f.base += outBufferSize
	return back.err
}

func (f *outFile) start() {
	f.full = make(chan outBuffer, outBuffers)
	f.free = make(chan outBuffer, outBuffers)
	for range outBuffers - 1 {
		f.free <- outBuffer{}
	}
	go f.writeBuffers(f.full, f.free)
}

// writeBuffers writes what comes in until full is closed, and closes free then. After an error it writes no more.
func (f *outFile) writeBuffers(full <-chan outBuffer, free chan<- outBuffer) {
	defer close(free)
	var err error
	for b := range full {
		if err == nil {
			_, err = f.file.WriteAt(b.data, b.off)
			if file, ok := f.file.(*osfile.File); ok && !f.lazy {
				file.StartWriteback(b.off, int64(len(b.data)))
			}
		}
		free <- outBuffer{buf: b.buf, err: err}
	}
}

// stop ends the goroutine and returns its error. It may be called again.
func (f *outFile) stop() (err error) {
	if f.full == nil || f.stopped {
		return nil
	}
	f.stopped = true
	close(f.full)
	for b := range f.free {
		err = cmp.Or(err, b.err)
	}
	return err
}

// finish writes what is left and then page 1, which is a whole page.
func (f *outFile) finish(page1 []byte) error {
	if err := f.stop(); err != nil {
		return err
	}
	if err := f.ctx.Err(); err != nil {
		return err
	}
	if _, err := f.file.WriteAt(f.buf[f.from:f.used], f.base+int64(f.from)); err != nil {
		return err
	}
	_, err := f.file.WriteAt(page1, 0)
	return err
}
