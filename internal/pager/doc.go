// Package pager keeps a SQLite database as a set of numbered pages: it locks the file, reads pages
// from the file and the write-ahead log, and commits changed pages so that all or none of them
// survive a crash. It knows nothing of tables; package sqlitefile builds them from pages. SQLite's
// own pager, with its log, is the model for everything that other connections see.
//
// # Read transactions
//
// A [Snapshot] is the database at one moment. An [Rx] reads its pages. Readers share a lease, which
// is one lock on the file or in the wal-index:
//
//	Begin -> the last snapshot, if the lease still holds and nothing has changed
//	      -> otherwise a lock, a look at the header or the wal-index, and a new snapshot
//
// # Write transactions
//
// A [Tx] runs while it holds the write lock. When it ends, its pages join the open group; the first
// transaction of a group holds the commit lock, and commits the group for all of them:
//
//	Update -> write lock: run, join the open group -> commit lock: seal, write, sync, publish
//
// In WAL mode a group is appended to the log (package wal), and the checkpointer copies the log
// into the file. In rollback mode the journal keeps the pages as they were until the file has the
// new ones. A transaction that changes more pages than memory may hold spills them; see spill.go.
//
// # Files
//
// Each line uses the lines above it only:
//
//	core, errors, options, mode, trace, budget, wait, place, tally
//	    the file, its options and failures, waiting for locks
//	lock, exclusive, recovery
//	    the locks of the file; the journal of a process that died
//	snapshot, pagecache
//	    the database at one moment
//	changes, dirtypages, recentpages, group, level
//	    pages in memory, transactions to be committed, savepoints
//	rx
//	    a read transaction, and how it finds a page
//	readers, filesnapshot, logsnapshot, openlog, newsnapshot
//	    locks and snapshots for readers
//	checkpointer, oldlog, rollback
//	    copying the log back; committing with a rollback journal
//	writer, tx, pages, savepoint, patience
//	    write transactions
//	committer, run, commit, spill, recycle, call
//	    running them, and committing them in groups
//	replace, alone, pin
//	    another file in place of the database
//	pager, checkpoint, journalmode, sync, watch, stats, probe
//	    the API for package sqlitefile
//
// Package journal has the format of the rollback journal, package wal the format of the log, and
// package reserve keeps disk space.
//
// Errors that a user can meet come from package dberr, with the path of the database.
package pager
