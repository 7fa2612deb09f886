package pager

import (
	"fmt"
	"math"
	"strconv"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/wal"
)

func (r *readers) newSnapshot(old *Snapshot, b []byte, size int64) (*Snapshot, error) {
	h, what := format.ParseHeader(b)
	if what != "" {
		return nil, r.PathError("open", fmt.Errorf("%w: %s", dberr.ErrNotDatabase, what))
	}
	if h.ReadVersion > format.VersionWAL {
		return nil, r.PathError("open", fmt.Errorf("%w: file format version %d", dberr.ErrUnsupported, h.ReadVersion))
	}
	version := r.versions.Add(1)
	s := &Snapshot{
		Version:  version,
		Layout:   version,
		size:     size,
		Header:   h,
		change:   [16]byte(b[changeStart:changeEnd]),
		LockPage: h.LockPage(),
		Usable:   h.Usable(),
		Cache:    new(pageCache),
	}
	for 1<<s.PageShift < h.PageSize {
		s.PageShift++
	}
	s.Spill = [2]format.Spill{format.SpillOf(format.LeafIndex, s.Usable), format.SpillOf(format.LeafTable, s.Usable)}
	s.Schema = newSchema(s, old)
	if r.wal == nil {
		if err := r.measure(s, size); err != nil {
			return nil, err
		}
	}
	return s, r.mapFile(s, size)
}

// measure fills in the number of pages. The header knows it, unless an old version of SQLite wrote
// last; a file with fewer pages than that is corrupt.
func (r *readers) measure(s *Snapshot, size int64) error {
	inFile := (size + int64(s.Header.PageSize) - 1) >> s.PageShift
	s.PageCount = s.Header.PageCount
	if s.PageCount == 0 {
		s.PageCount = uint32(min(inFile, format.MaxPage))
	}
	if int64(s.PageCount) > inFile {
		return r.corrupt(0, fmt.Sprintf("the file is cut off: it has %d of %d pages", inFile, s.PageCount))
	}
	return nil
}

// leastMap is how much address space a map takes at the least, so that a database can grow without
// a new map: 1 GiB, or 1 MiB where addresses have 32 bits. Memory is taken only for pages that are
// read.
const leastMap = 1 << 20 << (10 * (strconv.IntSize/32 - 1))

// mapFile lets s.mapped show the file's whole pages, through the map at hand if it is long enough.
// The caller must hold mu.
func (r *readers) mapFile(s *Snapshot, size int64) error {
	whole := size >> s.PageShift << s.PageShift
	if r.wal == nil {
		whole = min(whole, int64(s.PageCount)<<s.PageShift)
	}
	if r.options.NoMmap || whole > math.MaxInt/4 || r.wal != nil && r.wal.Access == wal.AccessWatched {
		return nil
	}
	if r.mapping == nil || int64(len(r.mapping.Bytes())) < whole {
		r.remap(max(2*whole, leastMap), whole)
	}
	if r.mapping != nil {
		s.Mapped = r.mapping.Bytes()[:whole:whole]
	}
	return nil
}

// remap maps n bytes or, where there is no address space for as much, least bytes; where there is
// none for those either, or the system has no maps, the database is read without one. The old map
// stays for those who look at it.
func (r *readers) remap(n, least int64) {
	if r.mapping != nil {
		r.retired = append(r.retired, r.mapping)
		r.mapping = nil
	}
	for _, n := range []int64{n, least} {
		if m, err := r.file.Map(n); err == nil {
			r.mapping = m
			return
		}
	}
}
