// Package crashfs is a file system in memory for tests. It records the operations on its files, and
// shows each state that a disk could have if the power failed in between.
//
// An FS is an osfile.System. Its History says at each operation which files a crash could leave
// behind, as Images; each Image is the start of another FS, which can crash again.
//
// # Promises of a disk
//
// A disk keeps no more than POSIX asks for and the journaling file systems of Linux keep:
//
//	D1  A write, or a truncation, is on disk once Sync of its file has returned. Until then each
//	    sector of 512 bytes that it touches, and each truncation, is there or not. Other sectors and
//	    truncations, before it, after it, or in the same write, have no influence on that.
//	D2  Of two writes to the same sector, or of a write and a truncation, the earlier one never
//	    undoes the later one.
//	D3  A sector that was being written may hold garbage in the bytes that were written, but not in
//	    the bytes next to them. SQLite calls this powersafe overwrite.
//	D4  The creation, removal or renaming of a file is on disk once SyncDir of its directory has
//	    returned; until then each is there or not. A renaming happens as a whole. Sync of a file
//	    says nothing about its name.
//	D5  A file that is removed, but whose removal is not on disk, may come back with its synced
//	    content.
//	D6  If Sync fails, the changes that were not on disk then are never put there by a later Sync,
//	    though they can be read until the crash.
//	D7  A file that was ever mapped as words is never synced. After a crash it holds an earlier
//	    content, or garbage, or nothing.
//	D8  A hole that Punch makes is a write of zeros for D1 and D2: until Sync each of its sectors is
//	    there or not. It never makes a file longer. Space that Preallocate gave is gone after a
//	    crash. It reads as zeros until it is written, and so does a write to it that was lost.
//
// # Limits
//
// There are no directories but those in names, no permissions, no symbolic or hard links, and no
// limit to the disk without WithFreeSpace. Handles of one FS stand for as many open file
// descriptions: their locks conflict as locks of processes do.
//
// An FS is safe for concurrent use.
package crashfs
