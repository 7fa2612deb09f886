package sqlitefile

import "github.com/foliofs/folio/internal/osfile/memfs"

// memoryName is how errors and DB.Path call a database in memory.
const memoryName = "memory"

// OpenMemory makes an empty database in memory of this process. No file is on any disk, and nothing
// is left after Close; BackupFile and Backup make a copy that stays. Each call makes another
// database. It is opened as with Options.Create and Options.Exclusive, and every call of a DB works
// as with a file; nothing survives the process, whatever Options.Durability says. Memory is taken
// for the pages of the database, and of its log.
//
// Of the options, BusyTimeout, JournalMode, PageSize, ForeignKeys and Trace count. Errors name the
// path "memory".
func OpenMemory(o *Options) (*DB, error) {
	options := Options{}
	if o != nil {
		options = *o
	}
	options.ReadOnly, options.Immutable, options.Plain = false, false, true
	options.Create, options.Exclusive, options.Durability = true, true, DurabilityOff
	options.system = memfs.New()
	return Open(memoryName, &options)
}
