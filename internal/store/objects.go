package store

import (
	"time"
)

// An ObjectInfo tells about the objects of a volume.
type ObjectInfo struct {
	Bucket  string // where they are; "" if the volume has no such place
	Objects int64  // how many there are
	Bytes   int64  // of them
	Chunks  int64  // of contents that are in them
	Used    int64  // bytes of these chunks: the others belong to contents that have changed

	Waiting      int64 // objects that nothing needs, or some part of which nothing needs
	WaitingBytes int64 // of them
}

// GCOptions say how GC works. The zero value, and nil, are good defaults.
type GCOptions struct {
	// MinAge is the age of the youngest object to remove that no transaction has named: its writer
	// has died, or will fail. 0 means a day.
	MinAge time.Duration
}

// A GCReport is the result of GC.
type GCReport struct {
	Listed  int64 // objects in the bucket before
	Unnamed int64 // of them that no transaction had named
	Removed int64 // objects
	ObjectInfo
}
