package sqlstore

import (
	"database/sql"
	"errors"
	"io/fs"

	"github.com/foliofs/folio/internal/store"
)

// ReadAt fills p from the content of n.
func (r reader) ReadAt(n store.Node, p []byte, off int64) (int, error) {
	p, eof := store.Within(&n, p, off)
	if len(p) == 0 {
		return 0, eof
	}
	f := store.Filler{Node: &n, P: p, Off: off}
	if err := r.fill(&f); err != nil {
		return f.Done, err
	}
	if err := f.Hole(len(p)); err != nil {
		return f.Done, err
	}
	return len(p), eof
}

// fill reads the stored part of f. SQL cuts out a range within one chunk. A longer range is one
// query for all its chunks.
func (r reader) fill(f *store.Filler) error {
	start := int(f.Off % store.ChunkSize)
	if start+len(f.P) > store.ChunkSize {
		return r.fillChunks(f)
	}
	var part sql.RawBytes
	rows, err := r.query(selectPart, start+1, len(f.P), store.DataID(f.Node.Ino, f.Off))
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
	return f.Put(0, part)
}

func (r reader) fillChunks(f *store.Filler) error {
	rows, err := r.query(selectChunks, store.DataID(f.Node.Ino, f.Off), store.DataID(f.Node.Ino, f.Off+int64(len(f.P))-1))
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
		at := int((id-store.DataID(f.Node.Ino, f.Off))<<store.ChunkShift - f.Off%store.ChunkSize) // in p; less than 0 in the first chunk
		if at < 0 {
			bytes, at = bytes[min(len(bytes), -at):], 0
		}
		if err := f.Put(at, bytes); err != nil {
			return err
		}
	}
	return r.explain(rows.Err())
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
		return 0, store.ChunkTooLong(id, int64(len(bytes)))
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
		err = store.ChunkTooLong(id, n)
	}
	return int(n), err
}
