package bulk

import (
	"cmp"
	"context"
	"errors"
	"hash/crc32"
	"io"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

const (
	outBufferSize = 1 << 20 // bytes; a multiple of every page size
	outBuffers    = 3       // one is filled, one is written, one lies between
)

var errTooManyPages = errors.New("more pages than a database can have")

// A File is a database file that is being built. It hands out pages in the order of their numbers,
// as slices of a large buffer; full buffers are written by a goroutine of their own, so that the
// disk works while the next pages are made.
//
// Invariants:
//
//	O1  Page n lies at offset (n-1)*pageSize and is written once, after all pages below it. Only
//	    page 1 comes last, by finish.
//	O2  next is never the lock page, nor a pointer-map page; their places in the file are filled
//	    with zeros.
//	O3  A buffer belongs to the goroutine from full until it comes back through free.
//
// It is not safe for concurrent use.
type File struct {
	ctx      context.Context
	file     io.WriterAt
	lazy     bool // no caller will wait for the disk
	PageSize int
	Usable   int
	lockPage uint32
	Pointers bool   // there are pointer-map pages
	Next     uint32 // number of the next page
	gap      int    // how many pages come before next that are not handed out, and are still to be filled

	buf  []byte // outBufferSize bytes, those from start to used are filled
	base int64  // offset of buf in the file
	from int    // where the first filled byte of buf is
	used int

	full    chan outBuffer // nil before the first buffer is full
	free    chan outBuffer
	stopped bool
	sum     uint32 // of the written bytes; the writing goroutine's until stopped
}

// An outBuffer goes from the builder to the writing goroutine, and comes back empty with the error
// so far.
type outBuffer struct {
	buf  []byte
	data []byte // the part of buf to write
	off  int64
	err  error
}

// A Layout describes the pages of a database file.
type Layout struct {
	PageSize int
	Reserved int    // bytes at the end of each page that are not used
	First    uint32 // number of the first page that is handed out
	Lazy     bool   // no process will wait for the disk
}

// NewFile returns a database that is written to file. Writing ends with the error of ctx when
// that is canceled.
func NewFile(ctx context.Context, file io.WriterAt, l Layout) *File {
	off := int64(l.First-1) * int64(l.PageSize)
	f := &File{
		ctx: ctx, file: file, lazy: l.Lazy,
		PageSize: l.PageSize, Usable: l.PageSize - l.Reserved,
		lockPage: format.LockPage(l.PageSize), Next: l.First,
		buf:  make([]byte, outBufferSize),
		base: off &^ (outBufferSize - 1),
	}
	f.from = int(off - f.base)
	f.used = f.from
	return f
}

// PageCount returns the number of pages so far, page 1 among them.
func (f *File) PageCount() uint32 { return f.Next - 1 - uint32(f.gap) }

// Page returns the next page (O1): its number and its usable bytes, which hold garbage and must all
// be overwritten before the next call.
func (f *File) Page() (pgno uint32, data []byte, err error) {
	for ; f.gap > 0; f.gap-- {
		hole, err := f.slot()
		if err != nil {
			return 0, nil, err
		}
		clear(hole)
	}
	if f.Next > format.MaxPage {
		return 0, nil, errTooManyPages
	}
	data, err = f.slot()
	if err != nil {
		return 0, nil, err
	}
	clear(data[f.Usable:])
	pgno = f.Next
	for f.Next++; f.special(f.Next); f.Next++ {
		f.gap++
	}
	return pgno, data[:f.Usable:f.Usable], nil
}

// Done has nothing to do: a page is written when the buffer is full.
func (f *File) Done(uint32, []byte) error { return nil }

// special reports whether a page must not be handed out (O2).
func (f *File) special(pgno uint32) bool {
	return pgno == f.lockPage || f.Pointers && format.IsPtrmapPage(pgno, f.PageSize, f.Usable)
}

// slot returns room for one page in the buffer.
func (f *File) slot() ([]byte, error) {
	if f.used == outBufferSize {
		if err := f.rotate(); err != nil {
			return nil, err
		}
	}
	f.used += f.PageSize
	return f.buf[f.used-f.PageSize : f.used : f.used], nil
}

// rotate hands the full buffer over and takes an empty one. Here is where cancelling and write
// errors are noticed.
func (f *File) rotate() error {
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

func (f *File) start() {
	f.full = make(chan outBuffer, outBuffers)
	f.free = make(chan outBuffer, outBuffers)
	for range outBuffers - 1 {
		f.free <- outBuffer{}
	}
	go f.writeBuffers(f.full, f.free)
}

// writeBuffers writes the buffers from full until full is closed (O3), and closes free then. After
// an error it writes no more.
func (f *File) writeBuffers(full <-chan outBuffer, free chan<- outBuffer) {
	defer close(free)
	var err error
	for b := range full {
		if err == nil {
			f.sum = crc32.Update(f.sum, crc32.IEEETable, b.data)
			_, err = f.file.WriteAt(b.data, b.off)
			if file, ok := f.file.(*osfile.File); ok && !f.lazy {
				file.StartWriteback(b.off, int64(len(b.data)))
			}
		}
		free <- outBuffer{buf: b.buf, err: err}
	}
}

// Stop ends the goroutine and returns its error. It may be called again.
func (f *File) Stop() (err error) {
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

// Finish writes the remaining pages and then page 1, which is a whole page (O1). Its change counter
// becomes a sum of all other pages, so that two databases hardly ever share one: by the counter a
// log is known to belong to another file (package wal).
func (f *File) Finish(page1 []byte) error {
	if err := f.Stop(); err != nil {
		return err
	}
	if err := f.ctx.Err(); err != nil {
		return err
	}
	rest := f.buf[f.from:f.used]
	if _, err := f.file.WriteAt(rest, f.base+int64(f.from)); err != nil {
		return err
	}
	format.PutCounter(page1, crc32.Update(f.sum, crc32.IEEETable, rest))
	_, err := f.file.WriteAt(page1, 0)
	return err
}
