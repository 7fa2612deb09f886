package source

import (
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/foliofs/folio"
)

// KeepsXattr reports whether an extended attribute goes from disk or out of an archive into a
// volume, and from there to disk. For root these are, on Linux, all but those of the system itself,
// such as access control lists: file capabilities are among them. For other users they are those of
// users, user.*, because the system lets nobody else set the others.
func KeepsXattr(name string) bool {
	if strings.HasPrefix(name, "user.") {
		return true
	}
	return runtime.GOOS == "linux" && os.Geteuid() == 0 && (strings.HasPrefix(name, "trusted.") || strings.HasPrefix(name, "security."))
}

// A fileStat describes a file on disk, as the system does.
type fileStat struct {
	id                  FileID
	mode                fs.FileMode
	links               uint64
	uid, gid            uint32
	size                int64
	mtime, atime, ctime time.Time
	rdev                uint64
	sparse              bool // fewer bytes have room on the disk than size says
}

// entry returns an entry of that name, without the fields of one type only.
func (st *fileStat) entry(name string) *Entry {
	h := st.header()
	h.Name = name
	return &Entry{Header: h, ID: st.id, Shared: st.links > 1 && !st.mode.IsDir()}
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

func header(name string) folio.Header { return folio.Header{Name: name} }

// sameContent reports whether a file, seen later, is still the file of st and has not changed.
func (st *fileStat) sameContent(then *fileStat) bool {
	return st.id == then.id && st.size == then.size && st.mtime.Equal(then.mtime) && st.ctime.Equal(then.ctime)
}
