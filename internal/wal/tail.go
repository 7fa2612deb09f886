package wal

import (
	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// SpillOver writes those pages with a frame behind keep over it, if there are too many of
// them, and returns the rest.
func (w *Log) SpillOver(t *Tail, batch []Page, keep uint32) (others []Page, err error) {
	if t.Last == keep {
		return batch, nil
	}
	for _, p := range batch {
		frame, err := w.Index.Find(p.Pgno, t.Last)
		if err != nil {
			return nil, err
		}
		if frame > keep && t.again < (t.Last-t.Header.MaxFrame)/2 {
			t.again++
			frame = 0
		}
		if frame <= keep {
			others = append(others, p)
			continue
		}
		if t.broken == 0 || frame < t.broken {
			t.broken = frame
		}
		if _, err := w.File.WriteAt(p.Data, format.FrameOffset(frame, w.PageSize)+format.FrameHeaderSize); err != nil {
			return nil, err
		}
	}
	return others, nil
}

// Reseal makes the checksums right from the first frame on where they are not.
func (w *Log) Reseal(t *Tail) error {
	if t.broken == 0 {
		return nil
	}
	head := format.WALHeader{BigEndian: t.Header.BigEndian, PageSize: t.Header.PageSize, Salt: t.Header.Salt}
	b := make([]byte, w.Frame)
	sum := t.Header.Frame
	if t.broken > t.Header.MaxFrame+1 {
		if _, err := w.File.ReadAt(b, format.FrameOffset(t.broken-1, w.PageSize)); err != nil {
			return dberr.CutOff(w.File.Name(), err)
		}
		f, _ := format.ParseFrameHeader(b)
		sum = f.Checksum
	}
	for n := t.broken; n <= t.Last; n++ {
		at := format.FrameOffset(n, w.PageSize)
		if _, err := w.File.ReadAt(b, at); err != nil {
			return dberr.CutOff(w.File.Name(), err)
		}
		f, _ := format.ParseFrameHeader(b)
		f.Seal(&head, sum, b[format.FrameHeaderSize:])
		f.Put(b)
		if _, err := w.File.WriteAt(b[:format.FrameHeaderSize], at); err != nil {
			return err
		}
		sum = f.Checksum
	}
	t.Sum, t.broken = sum, 0
	return nil
}

// AppendTail appends pages behind t, and moves it. The index knows of them, but its header does
// not.
func (w *Log) AppendTail(t *Tail, batch []Page, size uint32, syncStart func(osfile.Handle) error) error {
	if _, err := w.Index.Extend(format.WALIndexBlock(t.Last + uint32(len(batch)))); err != nil {
		return err // while the log has no commit of it
	}
	if err := w.append(t, batch, size, syncStart); err != nil {
		return err
	}
	for i, p := range batch {
		if err := w.Index.add(t.Last+uint32(i)+1, p.Pgno); err != nil {
			return err
		}
	}
	t.Last += uint32(len(batch))
	return nil
}
