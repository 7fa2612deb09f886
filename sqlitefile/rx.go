package sqlitefile

import (
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/search"
)

// An Rx is a read transaction: a snapshot of the database. It belongs to one goroutine at a time
// and is valid until the function given to View returns, or until End.
type Rx struct {
	pager search.Rx
	db    *DB
	begun bool // by BeginView, for End to end
}

// End ends a transaction that BeginView started; on one of View or Update it does nothing. The Rx,
// and everything that came out of it, must not be used any more: it may soon be another
// transaction's.
func (rx *Rx) End() {
	if rx.begun {
		rx.begun = false
		rx.end()
	}
}

func (rx *Rx) end() {
	rx.pager.End()
	rx.db.pool.Put(rx)
}

// Info is the header of a database.
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
	WriterVersion int    // of the program that last wrote page 1, as SQLITE_VERSION_NUMBER; this engine's is 3050004
}

// Info returns the facts in the header.
func (rx *Rx) Info() Info {
	h := &rx.pager.Header
	return Info{
		PageSize:      h.PageSize,
		PageCount:     rx.pager.PageCount,
		FreePages:     h.FreelistCount,
		Reserved:      h.Reserved,
		Encoding:      [...]string{format.UTF8: "UTF-8", format.UTF16LE: "UTF-16le", format.UTF16BE: "UTF-16be"}[h.Encoding],
		AutoVacuum:    h.AutoVacuum(),
		ApplicationID: h.ApplicationID,
		UserVersion:   h.UserVersion,
		SchemaVersion: h.SchemaCookie,
		WAL:           h.ReadVersion == format.VersionWAL,
		WriterVersion: int(h.WriterVersion),
	}
}

// Version returns a number that identifies the snapshot within this DB: transactions with equal
// versions see the same content. Data that was derived from the content may be kept for as long as
// the version stays.
func (rx *Rx) Version() uint64 { return rx.pager.Version }

// Guard calls fn, as View does: a fault on a mapped page becomes ErrFault, and the error is
// ErrMoved if another database was written over the file meanwhile.
func (rx *Rx) Guard(fn func() error) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if err := fn(); err != nil {
		return err
	}
	return rx.pager.Unreplaced()
}
