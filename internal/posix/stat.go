package posix

// A Stat holds the fields of a system file's FileInfo that package fs does not know.
type Stat struct {
	UID, GID     uint32
	Rdev         uint64 // of a device
	Atime, Ctime int64  // nanoseconds since 1970
}
