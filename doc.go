// Package folio keeps a directory tree in one SQLite database file, a volume, and gives it back through the interfaces
// that Go programs already use.
//
// Any SQLite client can read a volume: its tables and the view file are documented in docs/format.md. This package
// reads it through an engine of its own, which finds, lists and reads files faster than the operating system does.
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
// # Writing
//
// FS also has the methods of os.Root that write, and OpenFile with all its flags. Each call happens as a whole or not at all: whoever reads a file
// that WriteFile replaces finds the old content or the new one, appends never mix, and there is no moment in which a file that Rename replaces is
// missing. Update does many things as one:
//
//	err := vol.Update(ctx, func(tx *folio.Tx) error {
//		if err := tx.WriteFile("a/b.txt", data, 0o644); err != nil {
//			return err // and nothing has happened
//		}
//		return tx.Rename("a", "c")
//	})
//
// Within Update, Tx.Add makes files of any type with all that a Header says, as a program that copies a tree needs it.
//
// What was written has survived the death of the process when a call returns. The loss of power may take the last calls, but none before
// them and no part of one; Sync, of a volume or of a file, returns when it cannot any more. A file that is removed while it is open lives until it
// is closed, in whatever process; if that dies, whoever opens the volume next removes what is left.
//
// Any number of processes may have a volume open and write to it. While it is open there are two more files beside it, named
// like it with -wal and -shm at the end; the last one to close the volume removes them.
//
// Permissions and owners are kept, but nobody is kept from anything by them, and there is no umask. Times of access change only by Chtimes.
//
// # Looking after a volume
//
// Merge copies a tree in, in one transaction. Backup and BackupFile copy a volume while others write to it, Compact makes its file as small as it can
// be, Check looks for contradictions, and Repair puts right what can be without losing content. Options.MaxSize limits how large a volume may become: what
// would need more fails with ErrFull, and nothing has changed. Stats tells how a volume stands.
//
// # Creating
//
// Create makes a new volume of whatever is added to a Builder, ImportFS one of an fs.FS. It appears complete or not
// at all.
//
// # Errors
//
// Methods with a name return *fs.PathError with that name and the operation as os.Root spells it, those with two names *os.LinkError. What they
// wrap matches the errno that the system would give: errors.Is(err, syscall.ENOTEMPTY). Whatever a
// damaged or tampered volume holds, it does not make a method panic, loop, or leave the volume; ErrDamaged says
// that it contradicts itself.
//
// # Concurrency
//
// An FS is safe for concurrent use, and so are the files that it opens. An Rx, a Tx, a Builder, and what they return belong
// to one goroutine at a time. One change happens after the other; those that come together share the work of being committed.
//
// # Limits
//
// A name has at most 765 bytes, a path 32767, a file 16 TiB; a volume has at most 2^35 inodes.
package folio
