package sqlitefile

// A Durability names the failures that a transaction survives once Update has returned. Full,
// Extra, Normal and Off have the meaning of SQLite's PRAGMA synchronous; docs/durability.md has the
// whole table.
type Durability int

// The durabilities. The default is DurabilityFull.
const (
	// DurabilityFull survives the loss of power: every commit is synced.
	DurabilityFull Durability = iota
	// DurabilityExtra is DurabilityFull that, in journal mode Delete, also syncs the directory once
	// the journal is gone.
	DurabilityExtra
	// DurabilityNormal survives the death of the process. After a loss of power, a database in WAL
	// mode is consistent but may lack the last commits.
	DurabilityNormal
	// DurabilityOff never syncs: after a loss of power the database may be corrupt.
	DurabilityOff
)
