package source

import "github.com/foliofs/folio/sqlitefile"

// file adds a file that is no directory, and reads its content here, since only this goroutine may
// use the transaction.
func (a *agentProducer) file(e *Entry, ino int64) error {
	if e.Size <= smallSize {
		j, err := a.next(e, int(e.Size))
		if err != nil {
			return err
		}
		j.err = a.fill(ino, j.data)
		return a.flushFull()
	}
	out := newStream(a.ctx)
	if err := a.addFed(e, out); err != nil {
		return err
	}
	err := a.feed(ino, e.Size, out)
	out.close(err)
	return err
}

// fill reads a small content.
func (a *agentProducer) fill(ino int64, p []byte) error {
	clear(p)
	return a.eachChunk(ino, int64(len(p)), func(row *sqlitefile.Row, off, size int64) error {
		_, err := row.ReadAt(a.dataContent, p[off:off+size], 0)
		return err
	})
}

// feed writes a large content to a stream, with its holes.
func (a *agentProducer) feed(ino, size int64, out *stream) error {
	w, end := &streamWriter{s: out}, int64(0)
	err := a.eachChunk(ino, size, func(row *sqlitefile.Row, off, n int64) error {
		if err := w.addHole(off - end); err != nil {
			return err
		}
		end = off + n
		return w.readAt(columnReader{row, a.dataContent}, n)
	})
	if err == nil {
		err = w.addHole(size - end)
	}
	if err == nil {
		err = w.flush()
	}
	return err
}

// eachChunk calls fn for the chunks of a content of size bytes, in their order. An empty file may
// have a chunk all the same, which AgentFS does not remove when it cuts the file.
func (a *agentProducer) eachChunk(ino, size int64, fn func(row *sqlitefile.Row, off, n int64) error) error {
	if size == 0 {
		return nil
	}
	next := int64(0)
	for key, err := range a.dataByChunk.Prefix(ino) {
		if err != nil {
			return err
		}
		i, err := key.Int64(1)
		if err != nil {
			return err
		}
		row, ok, err := a.data.Get(key.Rowid())
		if err != nil {
			return err
		}
		if !ok {
			return ErrDamaged
		}
		n, err := row.Size(a.dataContent)
		if err != nil {
			return err
		}
		if i < next || i > (size-1)/a.chunkSize || n > min(a.chunkSize, size-i*a.chunkSize) {
			return ErrChunk
		}
		if next = i + 1; n == 0 {
			continue
		}
		if err := fn(&row, i*a.chunkSize, n); err != nil {
			return err
		}
	}
	return nil
}
