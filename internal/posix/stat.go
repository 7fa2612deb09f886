package posix

// A Stat is what the FileInfo of a file of the system tells besides what package fs knows.
type Stat struct {
	UID, GID     uint32
	Rdev         uint64 // of a device
	Atime, Ctime int64  // nanoseconds since 1970
}
