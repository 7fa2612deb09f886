package location

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
)

// An Operand is a file in a volume as the command line names it, with details that a location
// leaves out.
type Operand struct {
	Location
	Slash bool // a slash follows, or it ends in a dot: it is a directory, or an error
	// Inside reports whether the name ends in "." or "..", or is a root. It stands for the files in
	// an existing directory.
	Inside bool

	onDisk bool // it has no colon, and is no volume
}

// ParseOperand reads VOLUME[@SNAPSHOT][:PATH].
func ParseOperand(arg string) Operand {
	o := Operand{Location: Parse(arg)}
	bare := strings.TrimRight(arg, "/")
	last := bare[strings.LastIndexAny(bare, "/:")+1:]
	o.Inside = o.Path == "." || arg != o.Tree() && (last == "." || last == "..")
	o.Slash = bare != arg || o.Inside
	o.onDisk = !strings.Contains(arg, ":") && o.Snapshot == "" && !IsVolume(o.Volume)
	return o
}

// ParseOperands reads several.
func ParseOperands(args []string) []Operand {
	list := make([]Operand, len(args))
	for i, arg := range args {
		list[i] = ParseOperand(arg)
	}
	return list
}

// Base is the name that a copy in another directory gets.
func (o *Operand) Base() string {
	if o.Inside {
		return "."
	}
	return path.Base(o.Path)
}

// Fail names the operand in an error.
func (o *Operand) Fail(err error) error { return o.Failure(o.Path, err) }

// MustBeDir refuses a file that is no directory if its name ends in a slash.
func (o *Operand) MustBeDir(isDir bool) error {
	if o.Slash && !isDir {
		return o.Fail(folio.ErrNotDirectory)
	}
	return nil
}

var (
	errOtherVolume = errors.New("is in another volume")
	errOnDisk      = errors.New("is a name on disk, and not VOLUME:PATH")
)

// SameVolume checks that the operands are in one volume, under whatever name, and can be changed.
// way is the way out if one is in another volume.
func SameVolume(operands []Operand, way string) error {
	for i, o := range operands {
		if o.onDisk {
			way := "folio put copies a file into a volume"
			if i > 0 && i == len(operands)-1 {
				way = "folio get copies a file there"
			}
			return failure.Hint(failure.At(o.Volume, errOnDisk), way)
		}
	}
	for _, o := range operands {
		if err := o.CheckWritable(); err != nil {
			return err
		}
		if !SameFile(o.Volume, operands[0].Volume) {
			return failure.Hint(o.Fail(errOtherVolume), way)
		}
	}
	return nil
}

// IsDir reports whether a name in a volume belongs to a directory, or to a symbolic link to one.
func IsDir(rx *folio.Rx, name string) bool {
	info, err := rx.Stat(name)
	return err == nil && info.IsDir()
}

// Into checks that a number of sources can go to dest. into reports whether they go into it.
func Into(rx *folio.Rx, dest *Operand, exact bool, sources int) (into bool, err error) {
	there := IsDir(rx, dest.Path)
	if into = !exact && there; into || sources == 1 && (there || !dest.Inside) {
		return into, nil
	}
	_, err = rx.Stat(dest.Path)
	if err == nil {
		err = folio.ErrNotDirectory
	}
	if err = dest.Fail(err); sources == 1 {
		return false, err
	}
	return false, failure.Hint(err, failure.SeveralFiles)
}

// Inode returns the inode of a file in a volume.
func Inode(info fs.FileInfo) uint64 { return info.Sys().(*folio.Node).Ino }

// Links returns the number of names of a file.
func Links(info fs.FileInfo) uint64 { return uint64(info.Sys().(*folio.Node).Nlink) }

// LeadsTo reports whether a symbolic link leads to a file, which would be lost if it were replaced
// by the link.
func LeadsTo(rx *folio.Rx, link string, there fs.FileInfo) bool {
	target, err := rx.Stat(link)
	return err == nil && Inode(target) == Inode(there)
}

// SameEntry reports whether two names of a file are the same one, in the same directory.
func SameEntry(rx *folio.Rx, a, b string) bool {
	in, err := rx.Stat(path.Dir(a))
	if err != nil || path.Base(a) != path.Base(b) {
		return false
	}
	other, err := rx.Stat(path.Dir(b))
	return err == nil && Inode(in) == Inode(other)
}
