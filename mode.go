package folio

import (
	"io/fs"

	"github.com/foliofs/folio/store"
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
	modeSetuid = 0o4000
	modeSetgid = 0o2000
	modeSticky = 0o1000
)

// fileMode converts POSIX st_mode.
func fileMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m&0o777) | typeModes[store.TypeOf(m)]
	if m&modeSetuid != 0 {
		mode |= fs.ModeSetuid
	}
	if m&modeSetgid != 0 {
		mode |= fs.ModeSetgid
	}
	if m&modeSticky != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

// posixMode is the inverse of fileMode. It is not ok for a type that a volume does not know.
func posixMode(mode fs.FileMode) (m uint32, ok bool) {
	m = uint32(mode.Perm())
	if mode&fs.ModeSetuid != 0 {
		m |= modeSetuid
	}
	if mode&fs.ModeSetgid != 0 {
		m |= modeSetgid
	}
	if mode&fs.ModeSticky != 0 {
		m |= modeSticky
	}
	typ, ok := posixTypes[mode.Type()]
	return m | typ, ok
}

var posixTypes = map[fs.FileMode]uint32{
	0:                                 store.ModeRegular,
	fs.ModeDir:                        store.ModeDir,
	fs.ModeSymlink:                    store.ModeSymlink,
	fs.ModeDevice | fs.ModeCharDevice: store.ModeChar,
	fs.ModeDevice:                     store.ModeBlock,
	fs.ModeNamedPipe:                  store.ModeFifo,
	fs.ModeSocket:                     store.ModeSocket,
}
