package mount

import "log"

// Options say how a volume is mounted. The zero value, and nil, are good defaults.
type Options struct {
	// Dir is the directory of the volume to mount; "" means all of it.
	Dir string
	// ReadOnly refuses changes through the mount.
	ReadOnly bool
	// AllowOther lets other users use the mount, as allow_other of mount.fuse does. The permissions
	// of the files count in any case.
	AllowOther bool
	// UID and GID, if they are not nil, are shown as the owner and the group of all files. The
	// volume keeps its own.
	UID, GID *uint32
	// Umask has permissions that no file is shown with.
	Umask uint32
	// NoXattrs hides all extended attributes, and refuses new ones. The kernel keeps no answer
	// about them, so each file that ls -l or cp -a looks at costs a request otherwise.
	NoXattrs bool
	// SnapshotDir says whether the snapshots of the volume are in a directory .snapshots of the
	// root, each a directory that cannot be changed.
	SnapshotDir SnapshotDir
	// Name is the source that the system shows for the mount; "" means the path of the volume.
	Name string
	// Options are further options of mount(8), for example "noexec".
	Options []string
	// Logger gets a line, one a minute at most, with the error of a request that fails with EIO, or
	// of the watch for changes of others; nil means the standard logger.
	Logger *log.Logger
	// Debug logs each request.
	Debug bool
	// Daemon says that this process only serves: it must never open a file of the mount by its
	// path. Mount opens a file once in any other process, so that the process can use its own
	// mount.
	Daemon bool
}

// A SnapshotDir says whether a mount has a directory of snapshots. There is none while the volume
// has no snapshot, and none if it has a file of its own with the name .snapshots.
type SnapshotDir int

const (
	// SnapshotsHidden provides the directory, but does not list it: programs that go through all
	// files, such as find, du, rsync and rm -r, do not come to the snapshots.
	SnapshotsHidden SnapshotDir = iota
	// SnapshotsVisible lists it in the root.
	SnapshotsVisible
	// SnapshotsNone has no such directory.
	SnapshotsNone
)
