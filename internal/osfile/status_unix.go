//go:build unix

package osfile

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// A status holds the facts about a file that are checked while it is being written.
type status struct {
	id      fileID
	size    int64
	links   uint64
	regular bool
	mode    uint32 // with the kind of file
	uid     uint32
	gid     uint32
}

// access returns the owner and the permissions of the file.
func (s *status) access() Access {
	return Access{Perm: fs.FileMode(s.mode) & fs.ModePerm, UID: s.uid, GID: s.gid}
}

// fullStatus asks for all that the system knows.
func (d *description) fullStatus() (status, error) {
	var st unix.Stat_t
	for {
		if err := unix.Fstat(d.fd, &st); err != unix.EINTR {
			return statusFromAll(&st), err
		}
	}
}

func fullStatusOf(name string) (status, error) {
	var st unix.Stat_t
	for {
		if err := unix.Lstat(name, &st); err != unix.EINTR {
			return statusFromAll(&st), err
		}
	}
}

func statusFromAll(st *unix.Stat_t) status {
	return status{
		id:   fileID{uint64(st.Dev), uint64(st.Ino)},
		size: st.Size, links: uint64(st.Nlink), regular: st.Mode&unix.S_IFMT == unix.S_IFREG,
		mode: uint32(st.Mode), uid: st.Uid, gid: st.Gid,
	}
}
