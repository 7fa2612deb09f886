package sqlitefile

import (
	"errors"
	"io"
	"sync"
)

// page returns the usable bytes of page pgno: a slice of the map, valid until the transaction ends, or of a buffer
// where the database is read without a map. Numbers outside the database are corruption: only a page can name them.
func (rx *Rx) page(pgno uint32) ([]byte, error) {
	off := (uint64(pgno) - 1) << rx.shift // page 0 ends up beyond every map
	if off < uint64(len(rx.mapped)) {
		return rx.mapped[off : off+uint64(rx.usable) : off+1<<rx.shift], nil
	}
	return rx.unmappedPage(pgno)
}

// unmappedPage returns a page that rx.mapped does not show: one that the transaction changed, or that is in the log, or any
// page in plain mode, or the last one of a file that ends in the middle of it.
func (rx *Rx) unmappedPage(pgno uint32) ([]byte, error) {
	if rx.snapshot == ended {
		return nil, rx.db.pathError("read", ErrClosed)
	}
	if pgno == 0 || pgno > rx.pages {
		return nil, rx.corrupt(pgno, "no such page in the database")
	}
	if rx.changed != nil {
		if data := rx.changed.find(pgno); data != nil {
			return data[:rx.usable], nil
		}
	}
	if rx.last != 0 {
		if data, err := rx.loggedPage(pgno); data != nil || err != nil {
			return data, err
		}
	}
	if end := uint64(pgno) << rx.shift; end <= uint64(len(rx.file)) {
		start := end - 1<<rx.shift
		return rx.file[start : start+uint64(rx.usable) : end], nil
	}
	data := rx.cache.get(pgno)
	if data == nil {
		var err error
		if data, err = rx.readPage(pgno); err != nil {
			return nil, err
		}
		rx.cache.put(pgno, data)
	}
	return data[:rx.usable], nil
}

// readPage reads a page from the file. A last page that is cut off ends in zeros, as SQLite reads it.
func (rx *Rx) readPage(pgno uint32) ([]byte, error) {
	data := make([]byte, rx.header.PageSize)
	off := int64(pgno-1) << rx.shift
	n, err := rx.db.file.ReadAt(data, off)
	if rx.wal != nil {
		err = rx.wal.observer.unlessChanged(err)
	}
	switch {
	case err == nil, errors.Is(err, io.EOF) && off < rx.size && rx.size <= off+int64(n):
		return data, nil
	case errors.Is(err, io.EOF):
		return nil, rx.corrupt(pgno, "the file ends before this page does")
	}
	return nil, rx.db.pathError("read", err)
}

// loggedPage returns a page as the log has it, or nil if it does not.
func (rx *Rx) loggedPage(pgno uint32) ([]byte, error) {
	frame, err := rx.frameOf(pgno)
	if frame == 0 || err != nil {
		return nil, err
	}
	data, err := rx.wal.page(frame)
	if err != nil {
		return nil, err
	}
	return data[:rx.usable], nil
}

// frameOf returns the frame that has a page, or 0.
func (rx *Rx) frameOf(pgno uint32) (uint32, error) {
	if rx.frames == nil {
		return rx.wal.index.find(pgno, rx.last)
	}
	return rx.frames.find(rx.wal.index, pgno, rx.last)
}

// A pageCache keeps what is known of one snapshot: runs, extents, and the pages that were read without a map. It holds at most two generations of
// cacheGeneration bytes each: when the young one is full it becomes the old one, and what the old one still held is left to the
// garbage collector, so that a page stays valid for whoever holds it. Safe for concurrent use.
type pageCache struct {
	runs       straightRuns
	extents    extents
	mu         sync.Mutex // guards the maps
	young, old map[uint32][]byte
}

const cacheGeneration = 4 << 20 // bytes

func (c *pageCache) get(pgno uint32) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if data := c.young[pgno]; data != nil {
		return data
	}
	data := c.old[pgno]
	if data != nil {
		c.add(pgno, data)
	}
	return data
}

func (c *pageCache) put(pgno uint32, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(pgno, data)
}

func (c *pageCache) add(pgno uint32, data []byte) {
	if len(c.young)*len(data) >= cacheGeneration {
		c.young, c.old = nil, c.young
	}
	if c.young == nil {
		c.young = make(map[uint32][]byte)
	}
	c.young[pgno] = data
}
