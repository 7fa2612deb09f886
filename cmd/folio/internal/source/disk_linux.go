package source

import (
	"time"

	"golang.org/x/sys/unix"
)

func toFileStat(st *unix.Stat_t) fileStat {
	return fileStat{
		id:     FileID{Dev: st.Dev, Ino: st.Ino},
		mode:   FileMode(st.Mode),
		links:  uint64(st.Nlink),
		uid:    st.Uid,
		gid:    st.Gid,
		size:   st.Size,
		mtime:  time.Unix(st.Mtim.Unix()),
		atime:  time.Unix(st.Atim.Unix()),
		ctime:  time.Unix(st.Ctim.Unix()),
		sparse: st.Blocks*512 < st.Size,
		rdev:   st.Rdev,
	}
}
