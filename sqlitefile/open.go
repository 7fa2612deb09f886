package sqlitefile

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/osfile/memfs"
	"github.com/foliofs/folio/internal/osfile/readeratfs"
)

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
	options.ReadOnly, options.Immutable, options.NoMmap = false, false, true
	options.Create, options.Exclusive, options.Durability = true, true, DurabilityOff
	options.system = memfs.New()
	return Open(memoryName, &options)
}

// readerName is how errors and DB.Path call a database that has no name.
const readerName = "io.ReaderAt"

// OpenReaderAt opens the database in the first size bytes of r for reading, such as a database that
// is embedded in a program or in an archive. Bytes in memory are read through a bytes.Reader.
// It is opened as with Options.Immutable and Options.NoMmap: the bytes must not change until Close,
// and there is no log and no journal next to them. Several goroutines call r.ReadAt at once. Close
// does not close r. Of the options, only Trace counts.
//
// It returns an error that matches fs.ErrInvalid if size is negative. Errors of r arrive in a
// *fs.PathError.
func OpenReaderAt(r io.ReaderAt, size int64, o *Options) (*DB, error) {
	if r == nil || size < 0 {
		return nil, &fs.PathError{Op: "open", Path: readerName, Err: fmt.Errorf("%w: no reader, or a size of %d bytes", fs.ErrInvalid, size)}
	}
	options := Options{Immutable: true, NoMmap: true, system: readeratfs.New(readerName, r, size)}
	if o != nil {
		options.Trace = o.Trace
	}
	return Open(readerName, &options)
}
