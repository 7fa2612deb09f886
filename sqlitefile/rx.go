package sqlitefile

import (
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// An Rx is a read transaction: a snapshot of the database. It belongs to one goroutine at a time and is valid
// until the function given to View returns, or until End.
type Rx struct {
	*snapshot
	db      *DB
	changed *writer // of a Tx: the pages that were changed but not committed
	over    bool    // of a Tx: it has ended
}

// End ends a transaction that Begin started. The Rx, and everything that came out of it, must not be used any more.
func (rx *Rx) End() {
	db, s := rx.db, rx.snapshot
	rx.snapshot = nil
	db.pool.Put(rx)
	s.lease.leave()
}

// Info is what the header of a database tells.
type Info struct {
	PageSize      int    // bytes
	PageCount     uint32 // pages in the file, the first included
	FreePages     uint32
	Reserved      int    // bytes at the end of each page that hold no data
	Encoding      string // "UTF-8", "UTF-16le" or "UTF-16be"
	AutoVacuum    bool   // full or incremental
	ApplicationID uint32
	UserVersion   int32
	SchemaVersion uint32 // the schema cookie
	WAL           bool   // the file is in WAL mode
}

// Info returns what the header tells.
func (rx *Rx) Info() Info {
	h := &rx.header
	return Info{
		PageSize:      h.PageSize,
		PageCount:     rx.pages,
		FreePages:     h.FreelistCount,
		Reserved:      h.Reserved,
		Encoding:      [...]string{format.UTF8: "UTF-8", format.UTF16LE: "UTF-16le", format.UTF16BE: "UTF-16be"}[h.Encoding],
		AutoVacuum:    h.AutoVacuum(),
		ApplicationID: h.ApplicationID,
		UserVersion:   h.UserVersion,
		SchemaVersion: h.SchemaCookie,
		WAL:           h.ReadVersion == format.VersionWAL,
	}
}

// Version returns a number that identifies the snapshot within this DB: transactions with equal versions see the same
// content. What was derived from the content may be kept for as long as the version stays.
func (rx *Rx) Version() uint64 { return rx.version }

// Guard calls fn and turns a fault on a mapped page into ErrFault, as View does.
func (rx *Rx) Guard(fn func() error) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	return fn()
}
