package folio

import (
	"cmp"
	"io"
	"io/fs"
)

// maxWriteTo is how much WriteTo reads at once, unless the store reads faster by more.
const maxWriteTo = 256 << 10

// WriteTo writes the rest of the file to w. Other methods need not wait while w does: bytes that
// Read returns meanwhile do not go to w. Bytes that w does not accept remain for Read, unless
// another method moved the offset meanwhile. Of a volume whose long contents are far away, WriteTo
// reads the next bytes while w takes the last ones.
func (f *File) WriteTo(w io.Writer) (written int64, err error) {
	p, ahead, err := f.writeToBuffers()
	if err != nil {
		return 0, pathError("read", f.name, err)
	}
	c := fileCopy{f: f, w: w}
	if ahead == nil {
		for c.take(f.readPart(p)) && c.write() {
		}
	} else {
		c.readAhead(p, ahead)
	}
	f.giveBack(c.part.end, c.refused)
	return c.written, c.err
}

// writeToBuffers returns a buffer for the rest of the file, or for a part of it. If the next part
// should be read while one is written, it returns a buffer for that, too.
func (f *File) writeToBuffers() (p, ahead []byte, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, nil, fs.ErrClosed
	}
	size, err := f.size()
	if err != nil {
		return nil, nil, err
	}
	rest, most := max(1, size-f.off), int64(maxWriteTo)
	if f.from.pin == nil {
		most = max(most, int64(f.from.fs.partSize()))
	}
	if p = make([]byte, min(most, rest)); most > maxWriteTo && rest > most {
		ahead = make([]byte, min(most, rest-most))
	}
	return p, ahead, nil
}

// A fileCopy is a call of WriteTo.
type fileCopy struct {
	f       *File
	w       io.Writer
	part    filePart // that was read last
	refused int      // bytes of it that w has not accepted
	written int64
	err     error // of the call, once it has ended
}

// A filePart has bytes that were read at the offset of a file.
type filePart struct {
	p   []byte
	end int64 // where the offset was after that
	err error // io.EOF at the end of the file
}

func (f *File) readPart(p []byte) filePart {
	n, end, err := f.readNext(p)
	return filePart{p[:n], end, err}
}

// take takes a part that was read, and reports whether there is something to write.
func (c *fileCopy) take(part filePart) bool {
	c.part = part
	if part.err != nil && part.err != io.EOF {
		c.err = pathError("read", c.f.name, part.err)
		return false
	}
	return len(part.p) > 0
}

// write writes the part, and reports whether the copy goes on.
func (c *fileCopy) write() bool {
	n, err := c.w.Write(c.part.p)
	c.written += int64(n)
	if c.refused = len(c.part.p) - n; c.refused > 0 {
		err = cmp.Or(err, io.ErrShortWrite)
	}
	c.err = err
	return err == nil && c.part.err == nil
}

// readAhead copies, and reads the next part while w takes one. Parts are read one after the other:
// so each is as new as those before it.
func (c *fileCopy) readAhead(p, other []byte) {
	next := make(chan filePart, 1)
	read := func(p []byte) { next <- c.f.readPart(p) }
	go read(p)
	for c.take(<-next) {
		last := c.part.err != nil
		if !last {
			go read(other)
			p, other = other, p
		}
		if !c.write() {
			if !last {
				unused := <-next
				c.f.giveBack(unused.end, len(unused.p))
			}
			return
		}
	}
}
