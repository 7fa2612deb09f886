package sqlite

import (
	"time"

	"github.com/foliofs/folio/sqlitefile"
)

// Options say how a database is opened. The zero value, and nil, are good defaults.
type Options struct {
	// ReadOnly opens the database for reading.
	ReadOnly bool
	// Immutable is for a file that nothing changes while it is open: no lock is taken.
	Immutable bool
	// Create makes the file if there is none.
	Create bool
	// BusyTimeout is how long a statement waits for locks that other processes hold; 0 means 5
	// seconds, and less than 0 not to wait.
	BusyTimeout time.Duration
	// ForeignKeys enforces foreign keys, as PRAGMA foreign_keys does.
	ForeignKeys bool
	// Durability names the failures that a commit survives; the default is DurabilityFull.
	// DurabilityOff means DurabilityNormal.
	Durability sqlitefile.Durability
	// JournalMode is the mode of a new database. The default is WAL. A database that is there keeps
	// its mode.
	JournalMode sqlitefile.JournalMode
	// PageSize is the page size of a new database; 0 means 4096.
	PageSize int
	// SortMemory is how many bytes of rows a sort or the groups of a query keep in memory; 0 means
	// 64 MiB. The others go to a file without a name in the directory for temporary files.
	SortMemory int

	shared string // name of a database in memory that all who use the name share; "" for one's own
}
