package sqlitefile

// A Durability says what a transaction survives once Update has returned. The words, and what they mean, are those of
// SQLite's PRAGMA synchronous; docs/durability.md has the whole table.
type Durability int

const (
	// Full survives the loss of power: every commit is synced.
	Full Durability = iota
	// Extra is Full, and in journal mode Delete also syncs the directory once the journal is gone.
	Extra
	// Normal survives the death of the process. After a loss of power, a database in WAL mode is consistent but may
	// lack the last commits.
	Normal
	// Off never syncs: after a loss of power the database may be corrupt.
	Off
)
