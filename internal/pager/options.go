package pager

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// Options say how a pager works. Package sqlitefile explains them to a user.
type Options struct {
	ReadOnly    bool
	Immutable   bool
	NoMmap      bool
	BusyTimeout time.Duration // of one call; 0 means DefaultBusyTimeout, and less than 0 not to wait
	Durability  Durability
	JournalMode JournalMode
	Create      bool
	PageSize    int // of a new database; 0 means DefaultPageSize
	Exclusive   bool
	Trace       func(Event)   // nil for none
	SpillBytes  int64         // memory for the changed pages of a transaction; 0 means 96 MiB
	System      osfile.System // where the files are; nil means the operating system

	newWAL bool // a new database is in WAL mode; see chooseMode
}

// DefaultPageSize is the page size of a new database, in bytes.
const DefaultPageSize = 4096

// checkCreate refuses options that no database can have.
func (o *Options) checkCreate() error {
	if n := o.PageSize; n < format.MinPageSize || n > format.MaxPageSize || n&(n-1) != 0 {
		return fmt.Errorf("page size %d is not a power of two from 512 to 65536", n)
	}
	if o.Durability < DurabilityFull || o.Durability > DurabilityOff {
		return fmt.Errorf("%w: durability %d", dberr.ErrUnsupported, o.Durability)
	}
	if o.JournalMode < JournalDefault || o.JournalMode > JournalWAL {
		return fmt.Errorf("%w: journal mode %d", dberr.ErrUnsupported, o.JournalMode)
	}
	if o.Immutable && (o.Create || o.Exclusive) {
		return fmt.Errorf("%w: an immutable database is not created, and kept from no one", dberr.ErrUnsupported)
	}
	return nil
}

// chooseMode decides how a new database begins, and replaces JournalDefault: a new file on a disk
// is in WAL mode where processes can share memory, as they share the index of a log.
func (o *Options) chooseMode() {
	asked := o.JournalMode
	if o.newWAL = asked == JournalWAL; o.newWAL || asked == JournalDefault {
		o.JournalMode = JournalDelete // of a database that is in rollback mode
	}
	if asked == JournalDefault && o.System == osfile.OS && osfile.SharesMemory {
		o.newWAL = true
	}
}

// firstPageOf returns page 1 of a new database. Its change counter begins anywhere, so that two
// databases hardly ever have the same (H2 in package wal).
func (o *Options) firstPageOf() []byte {
	h := format.Header{PageSize: o.PageSize, WriteVersion: format.VersionRollback, ReadVersion: format.VersionRollback}
	if o.newWAL {
		h.WriteVersion, h.ReadVersion = format.VersionWAL, format.VersionWAL
	}
	page := make([]byte, o.PageSize)
	h.Put(page)
	countCommit(page, 1, wal.RandomWord())
	btree.InitNode(page, 1, format.LeafTable, 0)
	return page
}

// CountCommit counts a commit in the header on page 1: the change counter, the size, and the
// version of the program that wrote last.
func CountCommit(page1 []byte, size uint32) { countCommit(page1, size, 1) }

// countCommit is CountCommit with a change counter that goes up by step.
func countCommit(page1 []byte, size, step uint32) {
	format.PutCounter(page1, format.ChangeOf(page1).Counter()+step)
	binary.BigEndian.PutUint32(page1[28:], size)
	binary.BigEndian.PutUint32(page1[96:], WriterVersion)
}

// WriterVersion is the number of the SQLite version whose way of writing files this is: 3.50.4.
const WriterVersion = 3_050_004
