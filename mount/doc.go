// Package mount makes a volume a file system of the kernel, so that every program can use it.
//
// Other goroutines and processes can use the volume at the same time: with this library,
// with SQLite, or with a mount of their own. The kernel keeps names, attributes and contents for as
// long as it likes, and answers from there without asking. A goroutine learns what they have
// changed, usually within a millisecond, and makes the kernel forget exactly that.
//
// A change is in the volume when the system call that made it returns, and survives the death of
// this process. It survives the loss of power after fsync(2). Changes of files that are mapped into
// memory reach the volume as they reach the disk elsewhere: on msync(2), or when the kernel likes.
//
// If this process is killed, programs that use the mount get ENOTCONN. A second process, which
// Mount starts, sees to that.
//
// The package works on Linux, through FUSE.
package mount
