package main

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"io/fs"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/foliofs/folio"
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
	e := entry{path: path, name: info.Name(), mode: info.Mode(), node: *info.Sys().(*folio.Node)}
	if e.mode.Type() == fs.ModeSymlink {
		e.target, err = rx.Readlink(path)
	}
	return e, err
}

// typeName is the type of a file as the view file of a volume calls it.
func typeName(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "file"
	case fs.ModeDir:
		return "dir"
	case fs.ModeSymlink:
		return "symlink"
	case fs.ModeNamedPipe:
		return "fifo"
	case fs.ModeSocket:
		return "socket"
	case fs.ModeDevice:
		return "block"
	case fs.ModeDevice | fs.ModeCharDevice:
		return "char"
	}
	return "unknown"
}

// modeString is a mode as ls shows it: drwxr-sr-x.
func modeString(mode fs.FileMode) string {
	s := []byte("?rwxrwxrwx")
	s[0] = typeLetter(mode)
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

func typeLetter(mode fs.FileMode) byte {
	switch mode.Type() {
	case 0:
		return '-'
	case fs.ModeDir:
		return 'd'
	case fs.ModeSymlink:
		return 'l'
	case fs.ModeNamedPipe:
		return 'p'
	case fs.ModeSocket:
		return 's'
	case fs.ModeDevice:
		return 'b'
	case fs.ModeDevice | fs.ModeCharDevice:
		return 'c'
	}
	return '?'
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// devNumbers splits a device's number as Linux has it.
func devNumbers(rdev uint64) (major, minor uint32) {
	major = uint32(rdev>>8)&0xfff | uint32(rdev>>32)&^0xfff
	minor = uint32(rdev)&0xff | uint32(rdev>>12)&^0xff
	return major, minor
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

// A jsonPath is a path in the volume.
type jsonPath struct {
	Path jsonText `json:"path"`
}

type xattrObject struct {
	Name  jsonText `json:"name"`
	Value []byte   `json:"value"` // base64
}

// A jsonText is bytes that are mostly, but not always, UTF-8: a string, or else an object with the field base64.
type jsonText string

func (t jsonText) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(t))})
}

func (e *entry) json() entryJSON {
	n := &e.node
	j := entryJSON{
		jsonPath: jsonPath{jsonText(e.path)},
		Type:     typeName(e.mode), Mode: octalMode(n.Mode),
		Ino: uint64(n.Ino), Links: n.Nlink, UID: n.UID, GID: n.GID, Size: n.Size, Holes: n.Holes,
		MTime: jsonTime(n.Mtime), CTime: jsonTime(n.Ctime), ATime: jsonTime(n.Atime),
	}
	if e.mode.Type() == fs.ModeSymlink {
		j.Target = (*jsonText)(&e.target)
	}
	if e.mode&fs.ModeDevice != 0 {
		major, minor := devNumbers(n.Rdev)
		j.Device = &[2]uint32{major, minor}
	}
	for _, name := range sortedKeys(e.xattrs) {
		j.Xattrs = append(j.Xattrs, xattrObject{jsonText(name), e.xattrs[name]})
	}
	return j
}

func sortedKeys(m map[string][]byte) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func jsonTime(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// writeJSON writes v as one line.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
