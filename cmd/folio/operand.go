package main

import (
	"errors"
	"path"
	"strings"

	"github.com/foliofs/folio"
)

// An operand is a file in a volume as the command line names it, with details that a location
// leaves out.
type operand struct {
	location
	slash bool // a slash follows, or it ends in a dot: it is a directory, or an error
	// inside reports whether the name ends in "." or "..", or is that of a root. It stands for the
	// files in an existing directory.
	inside bool
}

// operandOf reads VOLUME[:PATH].
func operandOf(arg string) operand {
	o := operand{location: locate(arg)}
	bare := strings.TrimRight(arg, "/")
	last := bare[strings.LastIndexAny(bare, "/:")+1:]
	o.inside = o.path == "." || arg != o.volume && (last == "." || last == "..")
	o.slash = bare != arg || o.inside
	return o
}

func operandsOf(args []string) []operand {
	list := make([]operand, len(args))
	for i, arg := range args {
		list[i] = operandOf(arg)
	}
	return list
}

// base is the name that a copy in another directory gets.
func (o *operand) base() string {
	if o.inside {
		return "."
	}
	return path.Base(o.path)
}

// fail names the operand in an error.
func (o *operand) fail(err error) error { return o.failure(o.path, err) }

// mustBeDir refuses a file that is no directory if its name ends in a slash.
func (o *operand) mustBeDir(isDir bool) error {
	if o.slash && !isDir {
		return o.fail(folio.ErrNotDirectory)
	}
	return nil
}

var errOtherVolume = errors.New("is in another volume")

// sameVolume checks that the operands lie in one volume, under whatever name.
func sameVolume(operands []operand, way string) error {
	for _, o := range operands[1:] {
		if !sameFile(o.volume, operands[0].volume) {
			return hint(o.fail(errOtherVolume), way)
		}
	}
	return nil
}

// isDir reports whether a name in a volume is that of a directory, or of a symbolic link to one.
func isDir(rx *folio.Rx, name string) bool {
	info, err := rx.Stat(name)
	return err == nil && info.IsDir()
}
