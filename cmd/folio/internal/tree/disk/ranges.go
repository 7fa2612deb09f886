package disk

import (
	"io"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// Ranges is a content that knows where its holes are.
type Ranges interface {
	// NextData returns the first range of data that ends behind off, in a content of that size. At
	// the end both are size.
	NextData(off, size int64) (start, end int64, err error)
}

// nextData returns the next range to copy: all that is left if there are to be no holes, or the
// content does not know them.
func nextData(content io.ReaderAt, off int64, attr *tree.Entry) (start, end int64, err error) {
	if r, ok := content.(Ranges); ok && attr.Holes {
		start, end, err = r.NextData(off, attr.Size)
		if err == nil && (start < off || end < start || end > attr.Size || end == off) {
			err = io.ErrUnexpectedEOF
		}
		return start, end, err
	}
	return off, attr.Size, nil
}

// copyRanges writes a content to a new file, without its holes.
func (w *Writer) copyRanges(pw *writeBehind, attr *tree.Entry, content io.ReaderAt) error {
	for off := int64(0); off < attr.Size; {
		start, end, err := nextData(content, off, attr)
		if err == nil {
			err = w.copyRange(pw, start, end, content)
		}
		if err != nil {
			return err
		}
		off = end
	}
	return nil
}

// copyRange copies the bytes between two offsets. It reads a piece while the one before is written.
func (w *Writer) copyRange(pw *writeBehind, off, end int64, content io.ReaderAt) error {
	for ; off < end; off += arenaSize {
		if err := w.failure(); err != nil {
			return err
		}
		p := pw.piece(arenaSize)[:min(arenaSize, end-off)]
		if err := readAt(content, p, off); err != nil {
			return err
		}
		if err := pw.write(p, off); err != nil {
			return err
		}
	}
	return nil
}

// A writeBehind writes a file piece by piece. It writes a piece while its caller reads the next
// one.
type writeBehind struct {
	writeAt func(p []byte, off int64) error
	pieces  *[2][]byte
	next    int        // which of the pieces the caller fills next
	busy    chan error // gets the error of the write that is under way; nil if there is none
}

// piece returns bytes for the caller to fill. All pieces of a file have the same size.
func (b *writeBehind) piece(size int) []byte {
	p := &b.pieces[b.next]
	if *p == nil {
		*p = make([]byte, size)
	}
	return *p
}

// write begins to write p, which is from piece. An error may be about the piece before.
func (b *writeBehind) write(p []byte, off int64) error {
	if err := b.wait(); err != nil {
		return err
	}
	busy := make(chan error, 1)
	go func() { busy <- b.writeAt(p, off) }()
	b.busy, b.next = busy, 1-b.next
	return nil
}

// wait waits until no write is under way, and returns the error of the last one.
func (b *writeBehind) wait() (err error) {
	if b.busy != nil {
		err = <-b.busy
		b.busy = nil
	}
	return err
}
