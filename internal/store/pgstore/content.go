package pgstore

import (
	"iter"

	"github.com/foliofs/folio/internal/store"
)

// ReadAt fills p from the content of n.
func (r *reader) ReadAt(n store.Node, p []byte, off int64) (int, error) {
	p, eof := store.Within(&n, p, off)
	if len(p) == 0 {
		return 0, eof
	}
	if n.Size == n.Holes {
		clear(p)
		return len(p), eof
	}
	long := r.longRead(&n, p, off)
	defer long.end()
	done := 0
	for done < len(p) {
		f := filler{Filler: store.Filler{Node: &n, P: p[done:min(len(p), done+maxRead)], Off: off + int64(done)}, long: long}
		if err := r.fill(&f); err != nil {
			return done + f.Done, err
		}
		if err := f.hole(len(f.P)); err != nil {
			return done + f.Done, err
		}
		done += f.Done
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
	start := f.Off % store.ChunkSize
	first := store.DataID(f.Node.Ino, f.Off)
	if start+int64(len(f.P)) <= store.ChunkSize {
		return step{
			statement: selectPart, args: []any{first, start + 1, int64(len(f.P))},
			row: func(v [][]byte) {
				if !r.putPart(f, first, v[1:]) {
					f.put(0, v[0])
				}
			},
		}
	}
	return step{
		statement: selectChunks, args: []any{first, store.DataID(f.Node.Ino, f.Off+int64(len(f.P))-1)},
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

// A filler fills bytes with a content, of which parts may come from the bucket.
type filler struct {
	store.Filler
	err error

	long  *longRead      // that this is a part of, or nil
	wants []chunkRequest // parts that come from the bucket
	next  []idPart       // that are likely to be read next
}

// put copies the bytes of a row to a place.
func (f *filler) put(at int, bytes []byte) {
	if f.err == nil {
		f.err = f.Put(at, bytes)
	}
}

// hole fills the bytes with zeros up to a place.
func (f *filler) hole(end int) error {
	if f.err == nil {
		f.err = f.Hole(end)
	}
	return f.err
}

// NextData implements store.Rx.
func (r *reader) NextData(n store.Node, off int64) (int64, error) {
	return store.FirstData(&n, off, r.storedChunks(n.Ino, off))
}

// NextHole implements store.Rx.
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
