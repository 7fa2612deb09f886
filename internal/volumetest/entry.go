package volumetest

import (
	"io/fs"
	"strings"
	"time"

	"github.com/foliofs/folio"
)

// An Entry is a file, a directory or a symbolic link that a test adds to a volume.
type Entry struct {
	Name, Content string
	Mode          fs.FileMode
}

// NewEntry returns an entry with these fields.
func NewEntry(name, content string, mode fs.FileMode) Entry { return Entry{name, content, mode} }

// AddAll returns a function that adds files to a builder. The content of a symbolic link is its
// target.
func AddAll(files ...Entry) func(b *folio.Builder) error {
	return func(b *folio.Builder) error {
		for _, f := range files {
			h := &folio.Header{Name: f.Name, Mode: f.Mode, ModTime: SampleTime}
			if f.Mode&fs.ModeSymlink != 0 {
				h.Linkname = f.Content
			}
			if err := b.AddBytes(h, []byte(f.Content)); err != nil {
				return err
			}
		}
		return nil
	}
}

// SampleTime is the modification time of all entries.
var SampleTime = time.Date(2026, 11, 20, 1, 2, 3, 123456789, time.UTC)

// Dir and Link are the modes of plain directories and of symbolic links.
const Dir, Link = fs.ModeDir | 0o755, fs.ModeSymlink | 0o777

// LongName is as long as most systems allow.
var LongName = strings.Repeat("n", 251) + ".txt"

// Samples are files of every kind that most tests need.
var Samples = []Entry{
	{"a", "", Dir},
	{"a/b", "", Dir},
	{"a/b/c.txt", "see", 0o644},
	{"a/b/up", "../other.txt", Link},
	{"a/other.txt", "other", 0o600},
	{"a.txt", "before the directory's content", 0o644},
	{"abs", "/a/b", Link},
	{"big", strings.Repeat("0123456789abcdef", 20000), 0o644},
	{"dangling", "nowhere", Link},
	{"empty", "", Dir},
	{"escape", "a/../../x", Link},
	{"loop1", "loop2", Link},
	{"loop2", "./loop1", Link},
	{"nothing", "", 0o444},
	{"secret", "", fs.ModeDir | 0o700 | fs.ModeSticky},
	{"secret/" + LongName, "long", 0o755 | fs.ModeSetuid},
	{"to-b", "a/./b", Link},
	{"to-dangling", "dangling", Link},
	{"to-file", "to-b/c.txt", Link},
}
