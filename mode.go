package folio

import (
	"io/fs"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// typeModes are the type bits of fs.FileMode for each store.Type.
var typeModes = [...]fs.FileMode{
	0:             fs.ModeIrregular,
	store.File:    0,
	store.Dir:     fs.ModeDir,
	store.Symlink: fs.ModeSymlink,
	store.Char:    fs.ModeDevice | fs.ModeCharDevice,
	store.Block:   fs.ModeDevice,
	store.Fifo:    fs.ModeNamedPipe,
	store.Socket:  fs.ModeSocket,
}

// The bits of st_mode above the permissions.
const (
	modeSetuid = posix.ModeSetuid
	modeSetgid = posix.ModeSetgid
)

// fileMode converts POSIX st_mode.
func fileMode(m uint32) fs.FileMode { return posix.FileMode(m) }

// posixMode is the inverse of fileMode. ok reports whether a volume knows the type.
func posixMode(mode fs.FileMode) (m uint32, ok bool) { return posix.Mode(mode) }
