// Package crashfs is a file system in memory for tests: it records what is done to its files, and tells what a disk could hold
// had the power failed in between.
//
// An FS is an osfile.System. Its History says at each operation which files a crash could leave behind, as Images; each
// Image is the start of another FS, which can crash again.
//
// # What a disk promises
//
// No more than what POSIX asks for and the journaling file systems of Linux keep:
//
//	D1  A write, or a truncation, is on disk once Sync of its file has returned. Until then each sector of 512 bytes that it touches, and each
//	    truncation, is there or not, whatever became of others: before, after, or in the same write.
//	D2  Of two writes to the same sector, or of a write and a truncation, the earlier one never undoes the later one.
//	D3  A sector that was being written may hold garbage in the bytes that were written, but not in those beside them:
//	    SQLite calls this powersafe overwrite.
//	D4  The creation, removal or renaming of a file is on disk once SyncDir of its directory has returned; until then each is there
//	    or not. A renaming happens as a whole. Sync of a file says nothing about its name.
//	D5  A file that is gone from its directory but not from the disk's may come back, with whatever was synced of it.
//	D6  When Sync fails, what was not on disk then is never put there by a later Sync, though it can be read until the crash.
//	D7  A file that was ever mapped as words is never synced: after a crash it holds something that it held before, or garbage,
//	    or nothing.
//	D8  A hole that Punch makes is a write of zeros for D1 and D2: until Sync each of its sectors is there or not. It never makes a file longer.
//	    What Preallocate gave is gone after a crash. It reads as zeros until it is written, and so does a write to it that was lost.
//
// # Limits
//
// There are no directories but those in names, no permissions, no symbolic or hard links, and no limit to the disk without WithRoom. Handles of one FS stand
// for as many open file descriptions: their locks conflict as those of processes do.
//
// An FS is safe for concurrent use.
package crashfs
