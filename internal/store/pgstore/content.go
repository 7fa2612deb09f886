package pgstore

import (
	"io"
	"io/fs"
	"iter"

	"github.com/foliofs/folio/internal/store"
)

// maxRead is how many bytes of content one statement reads.
const maxRead = 4 << 20

// ReadAt fills p from the content of n.
func (r *reader) ReadAt(n store.Node, p []byte, off int64) (int, error) {
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
	if n.Size == n.Holes {
		clear(p)
		return len(p), eof
	}
	long := r.longRead(&n, p, off)
	defer long.end()
	done := 0
	for done < len(p) {
		f := filler{n: &n, p: p[done:min(len(p), done+maxRead)], off: off + int64(done), long: long}
		if err := r.fill(&f); err != nil {
			return done + f.done, err
		}
		if err := f.hole(len(f.p)); err != nil {
			return done + f.done, err
		}
		done += f.done
	}
	return done, eof
}

// fill reads the stored part of f: of one chunk only the bytes in question, of several all of them.
func (r *reader) fill(f *filler) error {
	ahead := r.ahead(f)
	if len(ahead) == 0 && r.remembered(f) {
		return r.fetch(f)
	}
	if err := r.ask(append(ahead, r.fillStep(f))...); err != nil {
		return err
	}
	r.startAhead(f)
	if f.err != nil {
		return f.err
	}
	return r.fetch(f)
}

// fillStep returns the statement for fill.
func (r *reader) fillStep(f *filler) step {
	start := f.off % store.ChunkSize
	first := store.DataID(f.n.Ino, f.off)
	if start+int64(len(f.p)) <= store.ChunkSize {
		return step{
			statement: selectPart, args: []any{first, start + 1, int64(len(f.p))},
			row: func(v [][]byte) {
				if !r.putPart(f, first, v[1:]) {
					f.put(0, v[0])
				}
			},
		}
	}
	return step{
		statement: selectChunks, args: []any{first, store.DataID(f.n.Ino, f.off+int64(len(f.p))-1)},
		row: func(v [][]byte) {
			id := number(v[0])
			if r.putPart(f, id, v[2:]) {
				return
			}
			bytes, at := v[1], int((id-first)<<store.ChunkShift-start) // in p; less than 0 in the first chunk
			if at < 0 {
				bytes, at = bytes[min(len(bytes), -at):], 0
			}
			f.put(at, bytes)
		},
	}
}

// A filler fills p with the content of n from off on.
type filler struct {
	n    *store.Node
	p    []byte
	off  int64
	done int // bytes of p that are filled, or wanted
	err  error

	long  *longRead // that this is a part of, or nil
	wants []want    // parts of p that come from the bucket
	next  []idPart  // that are likely to be read next
}

// put copies the bytes of a row to a place in p, which is behind those before.
func (f *filler) put(at int, bytes []byte) {
	if f.err = f.hole(at); f.err == nil && at < len(f.p) {
		f.done += copy(f.p[at:min(len(f.p), at+store.ChunkSize)], bytes)
	}
}

// hole fills p with zeros up to a place. It is an error if n has no holes.
func (f *filler) hole(end int) error {
	if f.err != nil {
		return f.err
	}
	if f.done < end && f.n.Holes == 0 {
		return store.Damaged("inode %d lacks content from byte %d on", f.n.Ino, f.off+int64(f.done))
	}
	if f.done < end {
		clear(f.p[f.done:end])
		f.done = end
	}
	return nil
}

var _ store.HoleFinder = (*reader)(nil)

// NextData implements store.HoleFinder.
func (r *reader) NextData(n store.Node, off int64) (int64, error) {
	return store.FirstData(&n, off, r.storedChunks(n.Ino, off))
}

// NextHole implements store.HoleFinder.
func (r *reader) NextHole(n store.Node, off int64) (int64, error) {
	return store.FirstHole(&n, off, r.storedChunks(n.Ino, off))
}

// maxChunks is how many chunks storedChunks asks for at once.
const maxChunks = 1024

// storedChunks yields the data rows of an inode from the chunk with the byte at off on.
func (r *reader) storedChunks(ino store.Ino, off int64) iter.Seq2[store.StoredChunk, error] {
	return func(yield func(store.StoredChunk, error) bool) {
		first, last := store.DataID(ino, off), store.DataID(ino, store.MaxSize-1)
		for first <= last {
			end := min(last, first+maxChunks-1)
			chunks, err := r.chunkLengths(first, end)
			if err != nil {
				yield(store.StoredChunk{}, err)
				return
			}
			for _, c := range chunks {
				if !yield(c, nil) {
					return
				}
			}
			if len(chunks) == 0 {
				if first, err = r.nextChunk(end+1, last); err != nil {
					yield(store.StoredChunk{}, err)
					return
				}
				continue
			}
			first = end + 1
		}
	}
}

func (r *reader) chunkLengths(first, last int64) (list []store.StoredChunk, err error) {
	err = r.ask(step{statement: selectLengths, args: []any{first, last}, row: func(v [][]byte) {
		list = append(list, store.StoredChunk{ID: number(v[0]), Size: number(v[1])})
	}})
	return list, err
}

// nextChunk returns the first data row from one id to another, or the id after the last.
func (r *reader) nextChunk(first, last int64) (id int64, err error) {
	if first > last {
		return first, nil
	}
	id = last + 1
	err = r.ask(step{statement: selectNextChunk, args: []any{first, last}, row: numberInto(&id)})
	return id, err
}
