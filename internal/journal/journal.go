// Package journal writes and plays back the rollback journal of a SQLite database: the file
// -journal in which a transaction saves pages before it overwrites them. Locks and transactions are
// up to the caller.
//
// Invariants, for the database file and its journal together. The caller must see to P1, P3 and P4:
//
//	P1  A page of the file is overwritten, or cut off, only after its image is in the journal, and
//	    the journal is synced.
//	P2  The journal has no header with a magic number before its records are synced; the header is
//	    synced before P1's overwriting.
//	P3  The file is synced before the journal is finished.
//	P4  Writes to the file are whole pages, under EXCLUSIVE.
//	P5  A commit has happened once its journal is removed, cut to nothing, or has no header any more.
//	    An error after that is one of a sync, or says that the database has lost its name. If
//	    finishing fails before, the journal stays hot, and the next transaction plays it back.
//
//	none --[Save]--> saved --[overwriting]--> hot --[Remove, Truncate, Clear]--> none
//	                                          hot --[PlayBack]--> none
package journal

import (
	"slices"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/pageset"
	"github.com/foliofs/folio/internal/superjournal"
	"github.com/foliofs/folio/internal/wal"
)

// A Database is the database that a journal belongs to, as far as the journal needs it.
type Database struct {
	Path     string // for errors
	File     *osfile.Handle
	System   osfile.System
	PageSize int  // if neither the journal nor the file has one
	Durable  bool // commits are synced
	Extra    bool // the removal of a journal is synced, too
	Sync     func(osfile.Handle) error
	SyncDir  func(name string) error
	Cut      func(size int64) error // makes the file shorter or longer
}

// Sector is the size that headers are padded to.
const Sector = 512

const suffix = "-journal"

// Name returns the name of the journal.
func (d *Database) Name() string { return (*d.File).Name() + suffix }

// A Journal is the rollback journal of one transaction. It belongs to one goroutine at a time.
type Journal struct {
	Hot      bool // the database file has changed
	Restored int  // how many pages were played back
	Saved    int  // how many images it has

	db    *Database
	name  string
	file  osfile.Handle
	end   int64       // where the next segment begins
	saved pageset.Set // pages whose images are saved
}

// Create opens the journal of a transaction, and makes the file if there is none. A file that is
// there was finished, perhaps by a process that died before it could sync that: unless it was ours,
// it is synced now, lest its old header come back to life over new records.
func (d *Database) Create(ours bool) (*Journal, error) {
	_, there, err := d.System.SideExists(*d.File, suffix)
	if err != nil {
		return nil, err
	}
	j, err := d.open(osfile.ReadWrite | osfile.Create)
	if err == nil && there && !ours {
		if err := j.adopt(); err != nil {
			return nil, dberr.Join(err, j.Close())
		}
	}
	return j, err
}

func (d *Database) open(flag int) (*Journal, error) {
	file, err := d.System.OpenSide(*d.File, suffix, flag)
	if err != nil {
		return nil, err
	}
	return &Journal{db: d, name: d.Name(), file: file}, nil
}

// adopt makes durable that the journal of another connection is finished. If it ends with the name
// of a super-journal, it is cut off: that name would come to stand behind the records of this
// transaction.
func (j *Journal) adopt() error {
	super, err := j.superJournal()
	if err == nil && super.Named() {
		err = j.file.Truncate(0)
	}
	if err != nil {
		return err
	}
	return j.db.Sync(j.file)
}

// superJournal returns the super-journal that j names.
func (j *Journal) superJournal() (superjournal.File, error) {
	return superjournal.Of(j.db.System, j.file, j.db.Durable)
}

// Pages are the pages of a database before a transaction.
type Pages interface {
	// WholePage returns a page with its reserved bytes.
	WholePage(pgno uint32) ([]byte, error)
}

// Save writes images of the given pages, except the ones that have an image, as one more segment,
// and makes them durable (P2). The database has count pages of size bytes. If Save returns an
// error, no page counts as saved by it.
func (j *Journal) Save(base Pages, count uint32, size int, pgnos []uint32) error {
	pgnos = slices.DeleteFunc(pgnos, j.saved.Has)
	switch {
	case len(pgnos) == 0 && j.end > 0:
		return nil
	case j.end == 0 && count > 0 && !slices.Contains(pgnos, 1):
		pgnos = append([]uint32{1}, pgnos...) // by which the journal is known to belong to the file; each commit changes it
	}
	h := format.JournalHeader{
		Records: uint32(len(pgnos)), Nonce: wal.RandomWord(), PageCount: count,
		SectorSize: Sector, PageSize: uint32(size),
	}
	end, err := j.writeRecords(base, &h, pgnos)
	if err != nil {
		return err
	}
	if err := j.head(&h, end); err != nil {
		return err
	}
	for _, pgno := range pgnos {
		j.saved.Add(pgno)
	}
	j.Saved += len(pgnos)
	j.end = format.JournalNextSegment(end, Sector)
	return nil
}

// writeRecords writes the records of a segment, and returns where they end.
func (j *Journal) writeRecords(base Pages, h *format.JournalHeader, pgnos []uint32) (end int64, err error) {
	end = j.end + Sector
	b := make([]byte, 0, 64*format.JournalRecordSize(int(h.PageSize)))
	for i, pgno := range pgnos {
		page, err := base.WholePage(pgno)
		if err != nil {
			return 0, err
		}
		r := format.JournalRecord{Page: pgno, Content: page, Checksum: format.JournalChecksum(h.Nonce, page)}
		if b = r.Append(b); len(b)+format.JournalRecordSize(len(page)) > cap(b) || i == len(pgnos)-1 {
			if _, err := j.file.WriteAt(b, end); err != nil {
				return 0, err
			}
			end += int64(len(b))
			b = b[:0]
		}
	}
	return end, nil
}

// head writes the header of the segment that begins at j.end: without its magic number first, then,
// once everything is durable, whole.
func (j *Journal) head(h *format.JournalHeader, end int64) error {
	var sector [Sector]byte
	if err := j.clearStale(end); err != nil {
		return err
	}
	h.Put(sector[:])
	if !j.db.Durable {
		_, err := j.file.WriteAt(sector[:], j.end)
		return err
	}
	clear(sector[:12])
	if _, err := j.file.WriteAt(sector[:], j.end); err != nil {
		return err
	}
	if err := j.db.Sync(j.file); err != nil {
		return err
	}
	if j.end == 0 {
		if err := j.db.SyncDir(j.name); err != nil {
			return err
		}
	}
	h.Put(sector[:])
	if _, err := j.file.WriteAt(sector[:12], j.end); err != nil {
		return err
	}
	return j.db.Sync(j.file)
}

// clearStale makes sure that no header of an earlier, longer journal follows the records.
func (j *Journal) clearStale(end int64) error {
	size, err := j.file.Size()
	next := format.JournalNextSegment(end, Sector)
	if err != nil || size <= next {
		return err
	}
	_, err = j.file.WriteAt(make([]byte, 12), next)
	return err
}

// Remove, Truncate and Clear make the journal useless, so that it is not played back: the commit,
// or the end of a rollback. They are the journal modes DELETE, TRUNCATE and PERSIST of SQLite.
func (j *Journal) Remove() error {
	if err := dberr.IgnoreMissing(j.db.System.Remove(j.name)); err != nil || !j.db.Extra {
		return err
	}
	return j.db.SyncDir(j.name)
}

// Truncate cuts the file to nothing. See Remove.
func (j *Journal) Truncate() error {
	if err := j.file.Truncate(0); err != nil {
		return err
	}
	return j.db.Sync(j.file)
}

// Clear overwrites the first header with zeros. See Remove.
func (j *Journal) Clear() error {
	if _, err := j.file.WriteAt(make([]byte, format.JournalHeaderSize), 0); err != nil {
		return err
	}
	return j.db.Sync(j.file)
}

// Close closes the file. It stays as it is.
func (j *Journal) Close() error { return j.file.Close() }

// Discard removes a journal that is not needed, as the database file has not been touched.
func (j *Journal) Discard() error { return dberr.Join(j.Remove(), j.Close()) }
