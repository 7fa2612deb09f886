package source

import (
	"time"

	"golang.org/x/sys/unix"
)

func toFileStat(st *unix.Stat_t) fileStat {
	return fileStat{
		id:     FileID{Dev: uint64(st.Dev), Ino: st.Ino},
		mode:   FileMode(uint32(st.Mode)),
		links:  uint64(st.Nlink),
		uid:    st.Uid,
		gid:    st.Gid,
		size:   st.Size,
		mtime:  time.Unix(st.Mtim.Unix()),
		atime:  time.Unix(st.Atim.Unix()),
		ctime:  time.Unix(st.Ctim.Unix()),
		sparse: st.Blocks*512 < st.Size,
		rdev:   linuxDev(unix.Major(uint64(st.Rdev)), unix.Minor(uint64(st.Rdev))),
	}
}
