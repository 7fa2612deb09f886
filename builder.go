package folio

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

// CreateOptions say how a volume is made. The zero value, and nil, are good defaults.
type CreateOptions struct {
	// Replace lets Create replace an existing file, at once and as a whole, when the new volume is complete.
	Replace bool
	// PageSize is that of the database, a power of two from 512 to 65536; 0 means the one that docs/format.md recommends.
	PageSize int
	// NoSync leaves it to the system when the volume reaches the disk.
	NoSync bool
}

// A Header describes a file to Builder.Add.
type Header struct {
	// Name is the path in the volume: elements separated by single slashes, none of them empty, "." or "..", with any bytes but
	// NUL. "." alone is the root.
	Name string
	Mode fs.FileMode // type and permissions, with setuid, setgid and sticky bits

	ModTime    time.Time // if zero, the time of Create
	AccessTime time.Time // if zero, ModTime
	ChangeTime time.Time // if zero, ModTime

	UID, GID uint32
	Linkname string            // target of a symbolic link, any bytes but NUL
	Rdev     uint64            // of a device: st_rdev as Linux has it
	Xattrs   map[string][]byte // extended attributes
}

// A Builder receives the files of a new volume. It belongs to one goroutine at a time; contents may be read ahead by
// others and passed to AddBytes.
//
// Inode numbers are given in the order of the calls. In the order of fs.WalkDir, walks of the volume read it from the front
// to the back.
type Builder struct{}

// BuildStats counts what a Builder has received.
type BuildStats struct {
	Files    int64 // regular files, each inode once
	Dirs     int64 // directories, without the root
	Symlinks int64
	Others   int64 // devices, fifos and sockets
	Links    int64 // further names of files
	Bytes    int64 // of contents
}

// Create makes a new volume at path of what fn adds. It appears there complete or not at all: if fn or anything else
// fails, or ctx is done, nothing is left behind.
//
// A path that exists is refused with fs.ErrExist unless o.Replace is set.
func Create(ctx context.Context, path string, o *CreateOptions, fn func(b *Builder) error) error {
	return errors.ErrUnsupported
}

// Add adds a file. The content of a regular file is read from content to the end; nil means empty. For anything else
// content is not used. Chunks of zeros become holes.
//
// Directories that lead to the file and were not added are made with mode 0755; adding one of them later sets what
// its header says. Any other name that is there already is refused with fs.ErrExist, as is one below a file.
// Errors are *fs.PathError with the header's Name; those of content are wrapped once.
func (b *Builder) Add(h *Header, content io.Reader) error { return errors.ErrUnsupported }

// AddBytes adds a file whose whole content is in memory. It does not keep content.
func (b *Builder) AddBytes(h *Header, content []byte) error { return errors.ErrUnsupported }

// Link gives a file that was added, but not a directory, a further name.
func (b *Builder) Link(oldname, newname string) error { return errors.ErrUnsupported }

// Stats returns what was added so far.
func (b *Builder) Stats() BuildStats { return BuildStats{} }

// FileInfoHeader returns the part of a header that every file system knows: mode and modification time. Name and link
// are used as they are.
func FileInfoHeader(name string, info fs.FileInfo, link string) *Header {
	return &Header{Name: name, Mode: info.Mode(), ModTime: info.ModTime(), Linkname: link}
}
