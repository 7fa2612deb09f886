// Package listing goes through the files of a volume for ls, tree, du, find, stat and info: it
// walks directories, sorts their entries, and judges these by criteria.
package listing

import (
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/value"
	"github.com/foliofs/folio/internal/posix"
)

// An Entry is one file in a volume, as ls, tree and stat show it.
type Entry struct {
	Path   string // in the volume
	Name   string // its last element, or how the command line named it
	Node   folio.Node
	Mode   fs.FileMode
	Target string // of a symbolic link
	Xattrs map[string][]byte
}

// Of looks at one file in the volume, not through a symbolic link.
func Of(rx *folio.Rx, path string, d fs.DirEntry) (Entry, error) {
	var info fs.FileInfo
	var err error
	if d != nil {
		info, err = d.Info()
	} else {
		info, err = rx.Lstat(path)
	}
	if err != nil {
		return Entry{}, err
	}
	return OfInfo(rx, path, info)
}

// OfInfo is Of for a file that info describes.
func OfInfo(rx *folio.Rx, path string, info fs.FileInfo) (e Entry, err error) {
	e = Entry{Path: path, Name: info.Name(), Mode: info.Mode(), Node: *info.Sys().(*folio.Node)}
	if e.Mode.Type() == fs.ModeSymlink {
		e.Target, err = rx.Readlink(path)
	}
	return e, err
}

// Tree returns the file as an entry of a tree, without its content and its extended attributes.
func (e *Entry) Tree() tree.Entry {
	n := &e.Node
	return tree.Entry{
		ID: tree.FileID{Ino: n.Ino}, Size: n.Size, Holes: n.Holes > 0, Shared: n.Nlink > 1 && !e.Mode.IsDir(),
		Header: folio.Header{
			Name: e.Path, Mode: e.Mode, UID: n.UID, GID: n.GID, Rdev: n.Rdev, Linkname: e.Target,
			ModTime: time.Unix(0, n.Mtime), AccessTime: time.Unix(0, n.Atime), ChangeTime: time.Unix(0, n.Ctime),
		},
	}
}

// A TypeWord is how commands name a type of files.
type TypeWord struct {
	mode   fs.FileMode
	Name   string // as the view file of a volume calls it
	letter byte   // as ls shows it
}

// typeWords are for the types that a volume knows. The last one is for any other type.
var typeWords = []TypeWord{
	{0, "file", '-'},
	{fs.ModeDir, "dir", 'd'},
	{fs.ModeSymlink, "symlink", 'l'},
	{fs.ModeNamedPipe, "fifo", 'p'},
	{fs.ModeSocket, "socket", 's'},
	{fs.ModeDevice, "block", 'b'},
	{fs.ModeDevice | fs.ModeCharDevice, "char", 'c'},
	{fs.ModeIrregular, "unknown", '?'},
}

// TypeOf returns the word for the type of a file.
func TypeOf(mode fs.FileMode) TypeWord {
	i := slices.IndexFunc(typeWords, func(t TypeWord) bool { return t.mode == mode.Type() })
	if i < 0 {
		i = len(typeWords) - 1
	}
	return typeWords[i]
}

// ModeString is a mode as ls shows it: drwxr-sr-x.
func ModeString(mode fs.FileMode) string {
	s := []byte("?rwxrwxrwx")
	s[0] = TypeOf(mode).letter
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

// An entryJSON is an entry for programs; docs/reference/json.md describes the fields.
type entryJSON struct {
	value.JSONPath
	Type   string          `json:"type"`
	Mode   string          `json:"mode"`
	Ino    uint64          `json:"ino"`
	Links  uint32          `json:"links"`
	UID    uint32          `json:"uid"`
	GID    uint32          `json:"gid"`
	Size   int64           `json:"size"`
	Holes  int64           `json:"holes,omitempty"`
	MTime  string          `json:"mtime"`
	CTime  string          `json:"ctime"`
	ATime  string          `json:"atime"`
	Target *value.JSONText `json:"target,omitempty"`
	Device *[2]uint32      `json:"device,omitempty"`
	Xattrs []xattrObject   `json:"xattrs,omitempty"`
}

type xattrObject struct {
	Name  value.JSONText `json:"name"`
	Value []byte         `json:"value"` // base64
}

// JSON is the entry for programs.
func (e *Entry) JSON() entryJSON {
	n := &e.Node
	j := entryJSON{
		JSONPath: value.JSONPathOf(e.Path),
		Type:     TypeOf(e.Mode).Name, Mode: OctalMode(n.Mode),
		Ino: uint64(n.Ino), Links: n.Nlink, UID: n.UID, GID: n.GID, Size: n.Size, Holes: n.Holes,
		MTime: value.JSONTime(n.Mtime), CTime: value.JSONTime(n.Ctime), ATime: value.JSONTime(n.Atime),
	}
	if e.Mode.Type() == fs.ModeSymlink {
		j.Target = (*value.JSONText)(&e.Target)
	}
	if e.Mode&fs.ModeDevice != 0 {
		major, minor := posix.DeviceNumbers(n.Rdev)
		j.Device = &[2]uint32{major, minor}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Xattrs)) {
		j.Xattrs = append(j.Xattrs, xattrObject{value.JSONText(name), e.Xattrs[name]})
	}
	return j
}

// OctalMode is the permission bits as chmod takes them.
func OctalMode(m uint32) string {
	s := strconv.FormatUint(uint64(m&0o7777), 8)
	return strings.Repeat("0", max(0, 4-len(s))) + s
}
