// Package wal is the write-ahead log of a SQLite database: the file -wal with its frames, and the
// wal-index, the file -shm, which all connections share.
//
// A [Log] is the log as this process has it open. Several processes have it open at once, among
// them SQLite. Locks on bytes of -shm decide which operations each may do: WRITE, CHECKPOINT,
// RECOVER and READ0 to READ4. Package pager decides when to write, read and copy; this package
// knows how, and keeps the invariants W1 to W7 and X1 to X8.
//
// # The states of a log
//
// Frames 1 to MaxFrame belong to committed transactions. The first backfill frames of them are
// copied into the database. Each of the marks READ1 to READ4 is the last frame that its readers
// see; readers of READ0 see the database alone.
//
//	     backfill      a mark      MaxFrame
//	         v            v            v
//	|========|============|============|- - - - - -
//	  copied   may be copied  needs a     frames of a transaction
//	           (CopyBack)     later one   that is not committed
//
//	empty --[AppendTail, Index.Store: the first commit]--> growing
//	growing --[AppendTail, Index.Store]--> growing
//	growing --[CopyBack: up to the lowest mark in use]--> growing
//	growing --[CopyBack: all frames]--> copied
//	copied --[AppendTail, Index.Store]--> growing
//	copied --[Restart: no reader at READ1 to READ4]--> empty
//	any --[State: the header of the index is lost]--> growing, recovered from the frames
//	copied --[Remove: the last connection closes]--> no log
package wal
