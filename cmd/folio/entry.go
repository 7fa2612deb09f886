package main

import (
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/posix"
)

// An entry is one file in a volume, as ls, tree and stat show it.
type entry struct {
	path   string // in the volume
	name   string // its last element, or how the command line named it
	node   folio.Node
	mode   fs.FileMode
	target string // of a symbolic link
	xattrs map[string][]byte
}

// entryOf looks at one file in the volume, not through a symbolic link.
func entryOf(rx *folio.Rx, path string, d fs.DirEntry) (entry, error) {
	var info fs.FileInfo
	var err error
	if d != nil {
		info, err = d.Info()
	} else {
		info, err = rx.Lstat(path)
	}
	if err != nil {
		return entry{}, err
	}
	return entryOfInfo(rx, path, info)
}

// entryOfInfo is entryOf for a file that info describes.
func entryOfInfo(rx *folio.Rx, path string, info fs.FileInfo) (e entry, err error) {
	e = entry{path: path, name: info.Name(), mode: info.Mode(), node: *info.Sys().(*folio.Node)}
	if e.mode.Type() == fs.ModeSymlink {
		e.target, err = rx.Readlink(path)
	}
	return e, err
}

// A typeWord is how commands name a type of files.
type typeWord struct {
	mode   fs.FileMode
	name   string // as the view file of a volume calls it
	letter byte   // as ls shows it
}

// typeWords are for the types that a volume knows. The last one is for any other type.
var typeWords = []typeWord{
	{0, "file", '-'},
	{fs.ModeDir, "dir", 'd'},
	{fs.ModeSymlink, "symlink", 'l'},
	{fs.ModeNamedPipe, "fifo", 'p'},
	{fs.ModeSocket, "socket", 's'},
	{fs.ModeDevice, "block", 'b'},
	{fs.ModeDevice | fs.ModeCharDevice, "char", 'c'},
	{fs.ModeIrregular, "unknown", '?'},
}

func typeOf(mode fs.FileMode) typeWord {
	i := slices.IndexFunc(typeWords, func(t typeWord) bool { return t.mode == mode.Type() })
	if i < 0 {
		i = len(typeWords) - 1
	}
	return typeWords[i]
}

// modeString is a mode as ls shows it: drwxr-sr-x.
func modeString(mode fs.FileMode) string {
	s := []byte("?rwxrwxrwx")
	s[0] = typeOf(mode).letter
	for i := range 9 {
		if mode&(1<<(8-i)) == 0 {
			s[1+i] = '-'
		}
	}
	special := func(bit fs.FileMode, at int, letters string) {
		if mode&bit != 0 {
			s[at] = letters[b2i(s[at] == '-')]
		}
	}
	special(fs.ModeSetuid, 3, "sS")
	special(fs.ModeSetgid, 6, "sS")
	special(fs.ModeSticky, 9, "tT")
	return string(s)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// An entryJSON is an entry for programs; docs/command.md describes the fields.
type entryJSON struct {
	jsonPath
	Type   string        `json:"type"`
	Mode   string        `json:"mode"`
	Ino    uint64        `json:"ino"`
	Links  uint32        `json:"links"`
	UID    uint32        `json:"uid"`
	GID    uint32        `json:"gid"`
	Size   int64         `json:"size"`
	Holes  int64         `json:"holes,omitempty"`
	MTime  string        `json:"mtime"`
	CTime  string        `json:"ctime"`
	ATime  string        `json:"atime"`
	Target *jsonText     `json:"target,omitempty"`
	Device *[2]uint32    `json:"device,omitempty"`
	Xattrs []xattrObject `json:"xattrs,omitempty"`
}

type xattrObject struct {
	Name  jsonText `json:"name"`
	Value []byte   `json:"value"` // base64
}

func (e *entry) json() entryJSON {
	n := &e.node
	j := entryJSON{
		jsonPath: jsonPathOf(e.path),
		Type:     typeOf(e.mode).name, Mode: octalMode(n.Mode),
		Ino: uint64(n.Ino), Links: n.Nlink, UID: n.UID, GID: n.GID, Size: n.Size, Holes: n.Holes,
		MTime: jsonTime(n.Mtime), CTime: jsonTime(n.Ctime), ATime: jsonTime(n.Atime),
	}
	if e.mode.Type() == fs.ModeSymlink {
		j.Target = (*jsonText)(&e.target)
	}
	if e.mode&fs.ModeDevice != 0 {
		major, minor := posix.DeviceNumbers(n.Rdev)
		j.Device = &[2]uint32{major, minor}
	}
	for _, name := range slices.Sorted(maps.Keys(e.xattrs)) {
		j.Xattrs = append(j.Xattrs, xattrObject{jsonText(name), e.xattrs[name]})
	}
	return j
}

// octalMode is the permission bits as chmod takes them.
func octalMode(m uint32) string {
	s := strconv.FormatUint(uint64(m&0o7777), 8)
	return strings.Repeat("0", max(0, 4-len(s))) + s
}
