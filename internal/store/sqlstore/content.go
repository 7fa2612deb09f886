package sqlstore

import (
	"database/sql"
	"errors"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/store"
)

// ReadAt fills p from the content of n.
func (r reader) ReadAt(n store.Node, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	if off >= n.Size {
		return 0, io.EOF
	}
	var eof error
	if rest := n.Size - off; int64(len(p)) > rest {
		p, eof = p[:rest], io.EOF
	}
	if len(p) == 0 {
		return 0, eof
	}
	f := filler{n: &n, p: p, off: off}
	if err := r.fill(&f); err != nil {
		return f.done, err
	}
	if err := f.hole(len(p)); err != nil {
		return f.done, err
	}
	return len(p), eof
}

// fill reads the stored part of f. SQL cuts out a range within one chunk. A longer range is one
// query for all its chunks.
func (r reader) fill(f *filler) error {
	start := int(f.off % store.ChunkSize)
	if start+len(f.p) > store.ChunkSize {
		return r.fillChunks(f)
	}
	var part sql.RawBytes
	rows, err := r.query(selectPart, start+1, len(f.p), store.DataID(f.n.Ino, f.off))
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return r.explain(rows.Err())
	}
	if err := scan(rows, []any{&part}); err != nil {
		return err
	}
	return f.put(0, part)
}

func (r reader) fillChunks(f *filler) error {
	rows, err := r.query(selectChunks, store.DataID(f.n.Ino, f.off), store.DataID(f.n.Ino, f.off+int64(len(f.p))-1))
	if err != nil {
		return err
	}
	defer rows.Close()
	var id int64
	var bytes sql.RawBytes
	dests := []any{&id, &bytes}
	for rows.Next() {
		if err := scan(rows, dests); err != nil {
			return err
		}
		at := int((id-store.DataID(f.n.Ino, f.off))<<store.ChunkShift - f.off%store.ChunkSize) // in p; less than 0 in the first chunk
		if at < 0 {
			bytes, at = bytes[min(len(bytes), -at):], 0
		}
		if err := f.put(at, bytes); err != nil {
			return err
		}
	}
	return r.explain(rows.Err())
}

// A filler fills p with the content of n from off on.
type filler struct {
	n    *store.Node
	p    []byte
	off  int64
	done int // bytes of p that are filled
}

// put copies the bytes of a row to a place in p, which is behind those before.
func (f *filler) put(at int, bytes []byte) error {
	if err := f.hole(at); err != nil {
		return err
	}
	f.done += copy(f.p[at:min(len(f.p), at+store.ChunkSize)], bytes)
	return nil
}

// hole fills p with zeros up to a place. It is an error if n has no holes.
func (f *filler) hole(end int) error {
	if f.done < end && f.n.Holes == 0 {
		return store.Damaged("inode %d lacks content from byte %d on", f.n.Ino, f.off+int64(f.done))
	}
	clear(f.p[f.done:end])
	f.done = end
	return nil
}

// chunk reads a whole chunk into p, which has room for one, and returns its length, 0 if there is
// no row.
func (r reader) chunk(id int64, p []byte) (int, error) {
	var bytes sql.RawBytes
	rows, err := r.query(selectChunk, id)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if !rows.Next() {
		return 0, r.explain(rows.Err())
	}
	if err := scan(rows, []any{&bytes}); err != nil {
		return 0, err
	}
	if len(bytes) > store.ChunkSize {
		return 0, tooLong(id, int64(len(bytes)))
	}
	return copy(p, bytes), nil
}

// chunkLength returns the length of a chunk. It is not there if that is less than 0.
func (r reader) chunkLength(id int64) (int, error) {
	n, err := r.number(selectLength, id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return -1, nil
	case err == nil && n > store.ChunkSize:
		err = tooLong(id, n)
	}
	return int(n), err
}

func tooLong(id, n int64) error {
	return store.Damaged("inode %d has a chunk of %d bytes", id>>store.ChunkBits, n)
}
