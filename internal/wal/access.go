package wal

// An Access says how a log is opened, and so how its readers are protected from changes by other
// connections. AccessShared is for connections that may write the log and its index. The other
// modes read without that right. Each holds SHARED on the database. While it does, no connection
// leaves WAL mode, removes -wal or -shm, or writes without them.
//
//	A1  AccessJoined: other connections hold the file -shm open. It is mapped for reading. A reader
//	    takes the lock of an existing mark, since it can set none. If no mark fits, it takes READ0
//	    (A2).
//	A2  A connection that holds READ0, shared, keeps all checkpoints out. So the database does not
//	    change, nor does any frame that is not in the database.
//	A3  AccessPrivate: there is a file -shm that no connection has open, or that has no header. The
//	    index is private and made from the log, and readers hold READ0 in the file. A new writer
//	    must recover the log first; from then on no frame counts as copied before READ0 is free. So
//	    the log does not begin again, and the database does not change.
//	A4  AccessWatched: there is no file -shm, so there is no lock to hold. A writer makes that file
//	    before it changes anything, and cannot remove it. Pages are read into memory; each one
//	    counts only if there is still no such file after it was read (observer).
//	A5  AccessImmutable: nothing changes the files.
//
//	watched --[-shm appears]--> private or joined
//	private --[a connection recovers the log]--> joined
//	private --[the log is not as it was]--> private
//	joined --[the header is not whole, and no writer is at it]--> private
//
// All these go through renewLog, at the beginning of a view.
type Access uint8

const (
	AccessShared Access = iota
	AccessJoined
	AccessPrivate
	AccessWatched
	AccessImmutable
)
