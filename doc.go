// Package folio keeps a directory tree in one SQLite database file, a volume, and gives it back through the interfaces
// that Go programs already use.
//
// Any SQLite client can read a volume: its tables and the view file are documented in docs/format.md. This package
// reads it through an engine of its own, several times faster than the operating system reads files.
//
// # Reading
//
// Open opens a volume. An FS has the methods of os.Root that read, with the same names, signatures and errors, and FS returns it
// as an fs.FS, whose files read at offsets and seek: http.FileServerFS, archive/zip and html/template take it as it is. Each call
// reads what the volume holds at that moment; View reads many things at one moment.
//
// Names are paths from the root of the volume, with slashes on every system, and bytes: they need not be UTF-8, but those of
// io/fs do. Symbolic links are followed inside the volume. What would lead out of it, by ".." or as an absolute target,
// fails with ErrEscapes, whoever made the volume.
//
// # Creating
//
// Create makes a new volume of whatever is added to a Builder, ImportFS one of an fs.FS. It appears complete or not
// at all.
//
// # Errors
//
// Methods with a name return *fs.PathError with that name and the operation as package os spells it. Whatever a
// damaged or tampered volume holds, it does not make a method panic, loop, or leave the volume; ErrDamaged says
// that it contradicts itself.
//
// # Concurrency
//
// An FS is safe for concurrent use, and so are the files that it opens. An Rx, a Builder, and what they return belong
// to one goroutine at a time.
//
// # Limits
//
// A name has at most 765 bytes, a path 32767, a file 16 TiB; a volume has at most 2^35 inodes.
package folio
