package disk

import (
	"io/fs"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// A fileStat describes a file on disk, as the system does.
type fileStat struct {
	id                  tree.FileID
	mode                fs.FileMode
	links               uint64
	uid, gid            uint32
	size                int64
	mtime, atime, ctime time.Time
	rdev                uint64
	sparse              bool // the file takes less space on the disk than its size
}

// entry returns an entry of that name, without the fields of one type only.
func (st *fileStat) entry(name string) *tree.Entry {
	h := st.header()
	h.Name = name
	return &tree.Entry{Header: h, ID: st.id, Shared: st.links > 1 && !st.mode.IsDir()}
}

// header describes the file, without its name and the fields of one type only.
func (st *fileStat) header() (h folio.Header) {
	h.Mode, h.UID, h.GID = st.mode, st.uid, st.gid
	h.ModTime, h.AccessTime, h.ChangeTime = st.mtime, st.atime, st.ctime
	if st.mode&fs.ModeDevice != 0 {
		h.Rdev = st.rdev
	}
	return h
}

// sameContent reports whether a file, seen later, is still the file of st and has not changed.
func (st *fileStat) sameContent(then *fileStat) bool {
	return st.id == then.id && st.size == then.size && st.mtime.Equal(then.mtime) && st.ctime.Equal(then.ctime)
}
