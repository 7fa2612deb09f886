// Package failure turns errors into one line for people, PATH: cause; way out. It also defines the
// errors that several subcommands share.
package failure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/quote"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/sqlitefile"
)

// At names path in an error, unless the error names a path already.
func At(path string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return respell(path, err)
	}
	return &fs.PathError{Path: path, Err: err}
}

// InTree names a file on disk in an error of a tree that begins at path.
func InTree(path string, err error) error {
	if e, ok := errors.AsType[*tree.EntryError](err); ok {
		return &fs.PathError{Path: filepath.Join(path, filepath.FromSlash(e.Name)), Err: e.Err}
	}
	return At(path, err)
}

// InArchive names an archive, and the entry in it, in an error of reading the archive.
func InArchive(path string, err error) error {
	if e, ok := errors.AsType[*tree.EntryError](err); ok {
		return &fs.PathError{Path: path, Err: e}
	}
	return At(path, err)
}

// respell writes the path of an error as the user did, if it is path made absolute, perhaps with
// the ending of a side file or a snapshot.
func respell(path string, err error) error {
	e, ok := err.(*fs.PathError)
	if !ok || filepath.IsAbs(path) || !filepath.IsAbs(e.Path) {
		return err
	}
	if abs, absErr := filepath.Abs(path); absErr == nil {
		if rest, ok := strings.CutPrefix(e.Path, abs); ok && (rest == "" || rest[0] == '-' || rest[0] == '@') {
			return &fs.PathError{Op: e.Op, Path: path + rest, Err: e.Err}
		}
	}
	return err
}

// A HintError carries its own way out, or "" for none.
type HintError struct {
	error
	way string
}

func (e *HintError) Unwrap() error { return e.error }

// Hint gives an error a way out that it has not got.
func Hint(err error, way string) error {
	if err == nil || wayOut(err) != "" {
		return err
	}
	return Rehint(err, way)
}

// Rehint gives an error this way out, whichever it has. "" is none.
func Rehint(err error, way string) error { return &HintError{err, way} }

// OfCheck takes from an error of folio check the advice to use folio check.
func OfCheck(err error) error {
	if errors.Is(err, sqlitefile.ErrCorrupt) || errors.Is(err, folio.ErrDamaged) {
		return Rehint(err, "")
	}
	return err
}

// Message is an error as one line for people: PATH: cause; way out. Nothing in it can move a
// terminal's cursor.
func Message(err error) string {
	text := describe(err)
	if way := wayOut(err); way != "" {
		text += "; " + way
	}
	return quote.Escape(text)
}

// describe leaves out the operations of path errors. They are rarely the operations that the user
// asked for.
func describe(err error) string {
	if e, ok := errors.AsType[*HintError](err); ok {
		err = e.error
	}
	return Cause(err)
}

// Cause returns the text of an error, with the paths that it names.
func Cause(err error) string {
	switch e := err.(type) {
	case *fs.PathError:
		return short(e.Path) + ": " + Cause(e.Err)
	case *os.LinkError:
		return short(e.New) + ": " + Cause(e.Err)
	case *os.SyscallError:
		return Cause(e.Err)
	case *tree.EntryError:
		return short(e.Name) + ": " + Cause(e.Err)
	case *sqlitefile.CorruptError:
		return sqlitefile.ErrCorrupt.Error() + ": " + e.What
	case interface{ Unwrap() []error }:
		return joined(e.Unwrap())
	}
	return posix.Named(err).Error()
}

// Systems take no longer paths. Of those that a volume or an archive has all the same, an error
// shows both ends.
const (
	longest = 4096
	ends    = 200
)

func short(path string) string {
	if len(path) <= longest {
		return path
	}
	left := len(path) - 2*ends
	return fmt.Sprintf("%s... %d bytes ...%s", path[:ends], left, path[len(path)-ends:])
}

// joined puts the causes of several errors, or of one, on one line.
func joined(errs []error) string {
	var parts []string
	for _, err := range errs {
		parts = append(parts, Cause(err))
	}
	return strings.Join(parts, ", ")
}

// wayOut tells the user how to get past an error. It returns "" if that is plain.
func wayOut(err error) string {
	if e, ok := errors.AsType[*HintError](err); ok {
		return e.way
	}
	if e, ok := errors.AsType[*tree.CompressedError](err); ok {
		return "use: " + e.Program + " FILE | folio import - VOLUME"
	}
	if NamesWayOut(err) {
		return ""
	}
	for _, w := range waysOut {
		if errors.Is(err, w.err) {
			return w.way
		}
	}
	return ""
}

// NamesWayOut reports whether the text of an error says how to go on.
func NamesWayOut(err error) bool {
	e, ok := errors.AsType[interface {
		error
		NamesWayOut() bool
	}](err)
	return ok && e.NamesWayOut()
}

var waysOut = []struct {
	err error
	way string
}{
	{ErrVolumeExists, "--force replaces it"},
	{ErrOtherFile, "--force-any replaces it all the same"},
	{ErrNotEmpty, "--force adds to it"},
	{ErrEmptyArchive, "--allow-empty replaces it all the same"},
	{ErrTerminal, "send it to a file, or name one"},
	{ErrNoVolume, "a path in a volume is written VOLUME:PATH"},
	{ErrNotDir, "folio cat reads a file"},
	{ErrSnapshot, "folio restore takes the volume back to it"},
	{folio.ErrNoSnapshot, "folio snapshot list tells their names"},
	{folio.ErrNotVolume, "folio import makes volumes"},
	{sqlitefile.ErrNotDatabase, "folio import makes volumes"},
	{sqlitefile.ErrBusy, "try again when the other program is done"},
	{sqlitefile.ErrCorrupt, "folio check says more"},
	{folio.ErrDamaged, "folio check says more"},
	{tree.ErrVolume, "copy the file, or name another source"},
	{tree.ErrNotDir, "folio import takes files and archives"},
	{tree.ErrMeanwhile, "sync again"},
	{tree.ErrSeek, "save it to a file first"},
	{tree.ErrNoStream, "name a file"},
	{tree.ErrKind, bsdtar},
	{tree.ErrMethod, bsdtar},
	{tree.ErrBackslash, bsdtar},
	{tree.ErrTruncated, bsdtar},
	{tree.ErrUnpack, bsdtar},
	{tree.ErrVanished, "nothing was written; try again when the tree is at rest"},
	{tree.ErrChanged, "nothing was written; try again when the tree is at rest"},
	{tree.ErrRepeated, "in a tar archive that is a file and not compressed, the last one wins"},
	{tree.ErrTooLarge, "--max-size sets the limit"},
}

// bsdtar is the way for an archive that bsdtar reads and Folio does not.
const bsdtar = "what bsdtar can read of it: bsdtar -cf - @FILE | folio import - VOLUME"

// The paths of standard input and output in errors.
const (
	StandardInput  = "standard input"
	StandardOutput = "standard output"
)

// OfOutput returns an error of writing to standard output.
func OfOutput(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return &fs.PathError{Path: StandardOutput, Err: err}
}

// Errors of names on the command line.
var (
	ErrNoVolume      = errors.New("no such volume")
	ErrIsVolume      = errors.New("is a volume")
	ErrNotWhole      = errors.New("is a path in a volume, and a whole volume is wanted")
	ErrInVolume      = errors.New("is a path in a volume, and not a file on disk")
	ErrSnapshot      = errors.New("is a snapshot, and snapshots stay as they are")
	ErrSnapshotOf    = errors.New("is a snapshot, and a whole volume is wanted")
	ErrNamesSnapshot = errors.New("names a snapshot of a volume, and not a file on disk")
	ErrInside        = errors.New("names a directory from within: write the name that it has above")
	ErrNotDir        = errors.New("is not a directory")
	ErrTerminal      = errors.New("is a terminal")
)

// Errors of new volumes, archives and directories whose name is taken.
var (
	ErrVolumeExists = errors.New("exists already")
	ErrSameFile     = errors.New("is source and volume at once")
	ErrSourceVolume = errors.New("is the volume that this comes out of")
	ErrOtherFile    = errors.New("is no volume")
	ErrNotEmpty     = errors.New("is not empty")
	ErrEmptyArchive = errors.New("is an empty archive, and the volume is not")
)

// Errors of files that a copy, a move or a link cannot replace.
var (
	ErrItself      = errors.New("is the same file")
	ErrIntoItself  = errors.New("cannot be put into itself")
	ErrJustCreated = errors.New("would replace what was put there a moment ago, under the same name")
	ErrDangling    = errors.New("is a symbolic link that leads nowhere, and nothing is written through it")
)

// Ways out that several errors share.
const (
	NothingChanged = "nothing was changed"
	SeveralFiles   = "several files need a directory to go to"
)
