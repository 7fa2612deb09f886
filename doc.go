// Package folio keeps a directory tree in one SQLite database file, a volume. It gives programs the
// tree through the methods of [os.Root] and the interfaces of [io/fs].
//
// Any SQLite client can read a volume: docs/reference/format.md describes its tables and the view
// file. This package reads it with an engine of its own, which finds, lists and reads files faster
// than the operating system does.
//
// # Reading
//
// [Open] opens a volume. A [Volume] offers the methods of os.Root that read, with the same names,
// signatures and errors. [Volume.FS] returns it as an [fs.FS] whose files seek and read at offsets:
// for example, http.FileServerFS, archive/zip and html/template take it as it is. Each call reads
// the volume as it is at that moment. [Volume.View] reads many files at one moment.
//
// [Volume.WithContext] returns the same methods for calls that a context can end, for example where
// a volume is on a server.
//
// Names are paths from the root of the volume, with slashes on every system. They are bytes and
// need not be UTF-8, except those of io/fs. Symbolic links are followed inside the volume. A name
// that leads out of it, by ".." or by an absolute target, fails with [ErrEscapes].
//
// # Writing
//
// A Volume also offers the methods of os.Root that write, and OpenFile with all its flags. Each
// call happens as a whole or not at all. For example, a reader of a file that WriteFile replaces
// finds the old content or the new one, two appends never mix, and a file that Rename replaces is
// never missing. [Volume.Update] makes many changes one:
//
//	err := vol.Update(ctx, func(tx *folio.Tx) error {
//		if err := tx.WriteFile("a/b.txt", data, 0o644); err != nil {
//			return err // and nothing has happened
//		}
//		return tx.Rename("a", "c")
//	})
//
// Within Update, [Tx.Add] makes files of any type with all that a [Header] says. Programs that copy
// a tree need that.
//
// A change survives the death of the process when the call returns. The loss of power may take the
// last changes, but none before them and no part of one. After [Volume.Sync] and [File.Sync] it
// cannot take any. A file that is removed while it is open lives until it is closed, even in
// another process. If that process dies, the next process that opens the volume removes the file.
//
// Any number of processes may have a volume open and write to it. While it is open there are two
// more files next to it, with the same name and -wal and -shm at the end. The last process to close
// the volume removes them.
//
// Permissions and owners are stored, but not enforced, and there is no umask. Only Chtimes changes
// times of access.
//
// # Looking after a volume
//
// Merge copies a tree into a volume, in one transaction. [Volume.Backup] and [Volume.BackupFile]
// copy the volume while it is written to. [Volume.Compact] makes its file as small as it can be.
// [Volume.Check] looks for contradictions, and [Volume.Repair] removes those that it can without
// losing content. Options.MaxSize limits the size of a volume: a call that needs more room fails
// with [ErrFull] and changes nothing. [Volume.Stats] tells how a volume is doing.
//
// # Creating
//
// [Create] makes a new volume of the files that a function adds to a [Builder], [ImportFS] one of
// an fs.FS. The volume appears complete or not at all.
//
// # Errors
//
// Methods with one name return a *fs.PathError with that name and the operation as os.Root spells
// it, those with two names a *os.LinkError. The error in it matches the errno that the system would
// give, for example errors.Is(err, syscall.ENOTEMPTY). A damaged volume, or a forged one, never
// makes a method panic, loop forever, or leave the volume. [ErrDamaged] says that a volume
// contradicts itself.
//
// # Misuse
//
// Options may be nil: they mean the defaults. If another argument is nil, for example a context, a
// function, a reader or a file system, the call fails with an error that matches fs.ErrInvalid. The
// methods of a Volume, a Root, a File or an Overlay that is closed fail with fs.ErrClosed, except
// that closing again is no error, unless it is a File. So do the methods of an Rx and a Tx whose
// function has returned, and of the zero values of all these types. Within the function of Update,
// a change of the Volume itself fails with [ErrBusy], and so does Close within the function of
// Update or View.
//
// # Concurrency
//
// A Volume is safe for concurrent use, and so are the files that it opens. An [Rx], a [Tx], a
// Builder and their results belong to one goroutine at a time. Changes happen one after the other.
// Changes that arrive together share the work of a commit.
//
// # Limits
//
// A name has at most 765 bytes, a path 32767, and a file 16 TiB. A volume has at most 2^35 inodes.
package folio
