package restore

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/foliofs/folio/internal/store"
)

// bufferSize is how many bytes of a content are compared at once.
const bufferSize = 16 * store.ChunkSize

// setAttributes gives an inode the attributes of one of the snapshot.
func (r *restorer) setAttributes(n, was *store.Node) {
	n.Mode, n.UID, n.GID, n.Rdev, n.Mtime, n.Atime = was.Mode, was.UID, was.GID, was.Rdev, was.Mtime, was.Atime
	n.Ctime = r.c.Now
}

// setXattrs gives an inode of the volume the extended attributes of one of the snapshot. It reports
// whether it had others.
func (r *restorer) setXattrs(was, is store.Ino) (changed bool, err error) {
	before, now, err := r.xattrs(was, is)
	if err != nil {
		return false, err
	}
	for _, x := range now {
		if !slices.ContainsFunc(before, func(b store.Xattr) bool { return b.Name == x.Name }) {
			if err := r.c.Tx.SetXattr(is, x.Name, nil); err != nil {
				return false, err
			}
			changed = true
		}
	}
	for _, x := range before {
		if slices.ContainsFunc(now, func(n store.Xattr) bool { return sameXattr(n, x) }) {
			continue
		}
		if err := r.c.Tx.SetXattr(is, x.Name, x.Value); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}

// xattrs returns the extended attributes of an inode of the snapshot, and of one of the volume.
func (r *restorer) xattrs(was, is store.Ino) (before, now []store.Xattr, err error) {
	before, err = r.past.Xattrs(was)
	if err == nil {
		now, err = r.c.Tx.Xattrs(is)
	}
	return before, now, err
}

func sameXattr(a, b store.Xattr) bool { return a.Name == b.Name && bytes.Equal(a.Value, b.Value) }

// equal reports whether a file of the volume is like one of the snapshot.
func (r *restorer) equal(was, is *store.Node) (bool, error) {
	if was.Size != is.Size || !was.SameAttributes(is) {
		return false, nil
	}
	before, now, err := r.xattrs(was.Ino, is.Ino)
	if err != nil || !slices.EqualFunc(before, now, sameXattr) {
		return false, err
	}
	differs, err := r.eachDifference(was, is, func([]byte, int64, bool) error { return errDiffers })
	if errors.Is(err, errDiffers) {
		return false, nil
	}
	return !differs, err
}

// errDiffers ends a comparison.
var errDiffers = errors.New("differs")

// content gives a file of the volume the content of one of the snapshot. It writes the parts that
// differ, and reports whether there were any.
func (r *restorer) content(was, is *store.Node) (changed bool, err error) {
	if changed = is.Size != was.Size; is.Size > was.Size {
		if err := r.c.Tx.Truncate(is, was.Size); err != nil {
			return false, err
		}
	}
	differs, err := r.eachDifference(was, is, func(p []byte, off int64, hole bool) error {
		return r.write(is, p, off, hole)
	})
	if err == nil && is.Size < was.Size {
		err = r.c.Tx.Truncate(is, was.Size)
	}
	return changed || differs, err
}

// write writes a part of a content. If it was a hole, it becomes one, where the store knows how.
func (r *restorer) write(is *store.Node, p []byte, off int64, hole bool) error {
	if h, ok := r.c.Tx.(store.HolePuncher); ok && hole {
		return h.PunchHole(is, off, int64(len(p)))
	}
	r.report.Bytes += int64(len(p))
	return r.c.Tx.WriteAt(is, p, off)
}

// eachDifference calls fn with the parts of the content of was that differ from that of is. Behind
// its end, is counts as zeros. A part was a hole, or it was stored. p is valid until fn returns.
func (r *restorer) eachDifference(was, is *store.Node, fn func(p []byte, off int64, hole bool) error) (differs bool, err error) {
	for off := int64(0); off < was.Size; {
		if err := r.ctx.Err(); err != nil {
			return differs, err
		}
		end, hole, err := r.nextPart(was, is, &off)
		if err != nil {
			return differs, err
		}
		found, err := r.compare(was, is, off, end, hole, fn)
		if differs = differs || found; err != nil {
			return differs, err
		}
		off = end
	}
	return differs, nil
}

// nextPart passes over the holes that both files have. It returns the end of the part from off on
// that was a hole, or was stored. The part fits into a buffer.
func (r *restorer) nextPart(was, is *store.Node, off *int64) (end int64, hole bool, err error) {
	data, err := r.past.NextData(*was, *off)
	if err != nil {
		return 0, false, err
	}
	if data > *off {
		now := data
		if *off < is.Size {
			if now, err = r.c.Tx.NextData(*is, *off); err != nil {
				return 0, false, err
			}
		}
		if now >= min(data, is.Size) {
			now = data
		}
		*off = now
	}
	if hole = *off < data; hole {
		end = min(data, is.Size)
	} else if end, err = r.past.NextHole(*was, *off); err != nil {
		return 0, false, err
	}
	return min(end, *off-*off%store.ChunkSize+bufferSize), hole, nil
}

// compare calls fn with the runs of chunks between two offsets that differ.
func (r *restorer) compare(was, is *store.Node, off, end int64, hole bool, fn func(p []byte, off int64, hole bool) error) (differs bool, err error) {
	p, err := r.read(0, r.past, was, off, end)
	if err != nil {
		return false, err
	}
	q, err := r.read(1, r.c.Tx, is, off, end)
	if err != nil {
		return false, err
	}
	run := 0 // where the chunks that differ begin
	for at := 0; at < len(p); {
		next := min(len(p), at+store.ChunkSize-int((off+int64(at))%store.ChunkSize))
		if bytes.Equal(p[at:next], q[at:next]) {
			if err := call(fn, p[run:at], off+int64(run), hole); err != nil {
				return true, err
			}
			run = next
		} else {
			differs = true
		}
		at = next
	}
	return differs, call(fn, p[run:], off+int64(run), hole)
}

// call calls fn with a part of a content, unless it is empty.
func call(fn func(p []byte, off int64, hole bool) error, p []byte, off int64, hole bool) error {
	if len(p) == 0 {
		return nil
	}
	return fn(p, off, hole)
}

// read reads a part of a content into one of two buffers. Behind the end of the file are zeros.
func (r *restorer) read(buffer int, rx store.Rx, n *store.Node, off, end int64) ([]byte, error) {
	if r.bufs[buffer] == nil {
		r.bufs[buffer] = make([]byte, bufferSize)
	}
	p := r.bufs[buffer][:end-off]
	if off >= n.Size {
		clear(p)
		return p, nil
	}
	got, err := rx.ReadAt(*n, p, off)
	clear(p[got:])
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return p, err
}
