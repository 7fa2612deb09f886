package journal

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// LooksHot reports whether a journal is beside the database that no process works on and that must
// be played back. Alive reports whether a process works on the database. The caller must hold
// SHARED. A process that begins and ends a transaction meanwhile can look like a dead one.
func (d *Database) LooksHot(alive func() (bool, error)) (bool, error) {
	size, ok, err := d.System.SideExists(*d.File, suffix)
	if err != nil || !ok || size == 0 {
		return false, err
	}
	if size, err = (*d.File).Size(); err != nil || size == 0 { // nothing can be rolled back to: it was left by another database
		return false, err
	}
	if writes, err := alive(); err != nil || writes {
		return false, err
	}
	begun, err := d.begun()
	if err != nil || !begun {
		return false, err
	}
	writes, err := alive() // one may have begun since
	return !writes, err
}

// begun reports whether the journal has a first byte that is not zero.
func (d *Database) begun() (bool, error) {
	f, err := d.System.OpenSide(*d.File, suffix, osfile.ReadOnly)
	if err != nil {
		return false, dberr.IgnoreMissing(err)
	}
	var first [1]byte
	n, err := f.ReadAt(first[:], 0)
	err = dberr.Join(dberr.IgnoreEOF(err), f.Close())
	return err == nil && n > 0 && first[0] != 0, err
}

// NeedsRecovery gives ErrNeedsRecovery if there is a journal, unless its transaction was committed:
// then the file is as it should be. It is for a database that cannot be written.
func (d *Database) NeedsRecovery() error {
	file, err := d.System.Open(d.Name(), osfile.ReadOnly, 0)
	if err != nil {
		return dberr.IgnoreMissing(err)
	}
	super, err := (&Journal{db: d, file: file}).superJournal()
	committed := false
	if err == nil {
		committed, err = super.Gone()
	}
	if err == nil && !committed {
		err = d.openError(dberr.ErrNeedsRecovery)
	}
	return dberr.Join(err, file.Close())
}

// Open opens the journal to play it back. It returns nil if there is none.
func (d *Database) Open() (*Journal, error) {
	j, err := d.open(osfile.ReadWrite)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case osfile.Unwritable(err):
		err = d.openError(fmt.Errorf("%w (journal: %s)", dberr.ErrNeedsRecovery, dberr.Brief(err)))
	}
	return j, err
}

func (d *Database) openError(err error) error {
	return &fs.PathError{Op: "open", Path: d.Path, Err: err}
}

// PlayBack restores the file and removes the journal. A journal whose super-journal is gone is only
// removed, because its transaction was committed.
func (j *Journal) PlayBack() error {
	if err := j.db.Sync(j.file); err != nil { // the journal that is read now must not be lost after the file changed
		return err
	}
	super, err := j.superJournal()
	if err != nil {
		return err
	}
	committed, err := super.Gone()
	switch {
	case err != nil:
	case committed:
		err = super.Settle()
	default:
		err = j.restore()
	}
	if err != nil {
		return err
	}
	if err := j.Remove(); err != nil {
		return err
	}
	if !committed {
		super.Remove(j.name)
	}
	return nil
}

// restore writes the images back, segment by segment, up to the first record that is not valid.
func (j *Journal) restore() error {
	if err := j.checkHome(); err != nil {
		return err
	}
	err := j.each(func(first *format.JournalHeader) error {
		return j.db.Cut(int64(first.PageCount) * int64(first.PageSize))
	}, func(first *format.JournalHeader, r *format.JournalRecord) error {
		j.Restored++
		_, err := (*j.db.File).WriteAt(r.Content, int64(r.Page-1)*int64(first.PageSize))
		return err
	})
	if err != nil {
		return err
	}
	return j.db.Sync(*j.db.File)
}

// mostCounted is by how much a commit raises the change counter: once for each transaction in it.
const mostCounted = 1 << 16

// checkHome gives ErrMispaired if page 1 of the file is neither the one in the journal nor one that
// its transaction can have written: the journal belongs to another file. If the journal contains no
// page 1, or a crash has left garbage in the file's, nothing is known.
func (j *Journal) checkHome() error {
	var b [format.HeaderSize]byte
	if _, err := (*j.db.File).ReadAt(b[:], 0); err != nil {
		return dberr.IgnoreEOF(err)
	}
	if _, what := format.ParseHeader(b[:]); what != "" {
		return nil
	}
	now, before, found := format.ChangeOf(b[:]), format.Change{}, false
	err := j.each(func(*format.JournalHeader) error { return nil }, func(_ *format.JournalHeader, r *format.JournalRecord) error {
		if r.Page == 1 {
			before, found = format.ChangeOf(r.Content), true
		}
		return nil
	})
	if err != nil || !found || now.Counter()-before.Counter() <= mostCounted {
		return err
	}
	return j.db.openError(dberr.Mispaired(j.name))
}

// each calls begin with the first header, and record with each record of a page of the database, up
// to the first one that is not valid. A header counts only if its whole sector is there: a journal
// that was cut off in it, for example because it was copied in part, holds nothing.
func (j *Journal) each(begin func(first *format.JournalHeader) error, record func(first *format.JournalHeader, r *format.JournalRecord) error) error {
	size, err := j.file.Size()
	if err != nil {
		return err
	}
	var b [format.JournalHeaderSize]byte
	first := format.JournalHeader{SectorSize: Sector} // SQLite asks for as much of the first one
	for off, n := int64(0), 0; off+int64(first.SectorSize) <= size; n++ {
		if _, err := j.file.ReadAt(b[:], off); err != nil {
			return err
		}
		h, ok := format.ParseJournalHeader(b[:])
		if !ok || n == 0 && !h.ValidSizes() {
			break
		}
		if n == 0 {
			if first, err = j.db.withPageSize(h); err != nil {
				return err
			}
			if err := begin(&first); err != nil {
				return err
			}
		}
		off += int64(first.SectorSize)
		if h.Records == format.JournalAllRecords {
			h.Records = uint32(max(size-off, 0) / int64(format.JournalRecordSize(int(first.PageSize))))
		}
		end, more, err := j.eachOf(&first, &h, off, record)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		off = format.JournalNextSegment(end, first.SectorSize)
	}
	return nil
}

// withPageSize completes the header of a journal that does not tell its page size, because it is of
// SQLite before 3.5.8: with the one in the header of the database, or else the default.
func (d *Database) withPageSize(h format.JournalHeader) (format.JournalHeader, error) {
	if h.PageSize != 0 {
		return h, nil
	}
	var b [format.HeaderSize]byte
	if _, err := (*d.File).ReadAt(b[:], 0); dberr.IgnoreEOF(err) != nil {
		return h, err
	}
	h.PageSize = uint32(d.PageSize)
	if size, ok := format.StoredPageSize(b[:]); ok {
		h.PageSize = size
	}
	return h, nil
}

// eachOf is each for one segment. Where there are two records of a page the last one counts, as in
// SQLite: no writer saves a page twice, but a record can get the number of another page from an
// older journal in the same file, if it was not synced. And one beyond the end of the database is
// passed over, whatever its checksum.
func (j *Journal) eachOf(first, h *format.JournalHeader, off int64, record func(first *format.JournalHeader, r *format.JournalRecord) error) (end int64, more bool, err error) {
	b := make([]byte, format.JournalRecordSize(int(first.PageSize)))
	for n := uint32(0); n < h.Records; n++ {
		if _, err := j.file.ReadAt(b, off); err != nil {
			return off, false, dberr.IgnoreEOF(err)
		}
		r, ok := format.ParseJournalRecord(b)
		beyond := r.Page > first.PageCount && r.Page != format.LockPage(int(first.PageSize))
		if !ok || !beyond && !r.Valid(h.Nonce) {
			return off, false, nil
		}
		if !beyond {
			if err := record(first, &r); err != nil {
				return off, false, err
			}
		}
		off += int64(len(b))
	}
	return off, true, nil
}
