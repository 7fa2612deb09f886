package location

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
)

// MayName refuses a new file on disk that reads as VOLUME:PATH or VOLUME@SNAPSHOT, where VOLUME is
// a volume that is there: from then on the name would hide that path, or that snapshot, of the
// volume.
func MayName(name, way string) error {
	if OnServer(name) {
		return InFile(name, way)
	}
	if _, err := os.Lstat(name); err == nil {
		return nil
	}
	switch volume := VolumeBefore(name); {
	case volume == "":
		return nil
	case name[len(volume)] == '@':
		return failure.Hint(failure.At(name, failure.ErrNamesSnapshot), "a file of that name would hide it")
	}
	return failure.Hint(failure.At(name, failure.ErrInVolume), way)
}

// VolumeBefore returns the part of a name that is the path of a volume, up to a colon, or to an @
// and the name of a snapshot. It is "" if there is none.
func VolumeBefore(name string) string {
	if OnServer(name) {
		if l := parseServer(name); l.Path != "." || l.Snapshot != "" {
			return l.Volume
		}
		return ""
	}
	drive := len(filepath.VolumeName(name)) // of Windows, with its colon
	for end := strings.LastIndexAny(name, ":@"); end > drive; end = strings.LastIndexAny(name[:end], ":@") {
		if l, ok := split(name, end); ok && IsVolume(l.Volume) {
			return l.Volume
		}
	}
	return ""
}

// IsTree reports whether the command line names the root of a volume or of a snapshot that way.
func IsTree(arg string) bool {
	loc := Parse(arg)
	return loc.Tree() == arg && IsVolume(loc.Volume)
}

// WholeTree returns the volume, or the snapshot, that the command line names as VOLUME[@SNAPSHOT],
// perhaps with a colon and a slash.
func WholeTree(arg string) (Location, error) {
	loc := Parse(arg)
	if err := wholeBucket(loc.Volume); err != nil {
		return loc, err
	}
	if loc.Path != "." {
		return loc, failure.Hint(failure.At(loc.String(), failure.ErrNotWhole), "write "+loc.Tree())
	}
	return loc, nil
}

// WholeVolume returns the volume that the command line names as VOLUME, VOLUME: or VOLUME:/.
func WholeVolume(arg string) (Location, error) {
	loc, err := WholeTree(arg)
	if err == nil && loc.Snapshot != "" {
		err = failure.Hint(failure.At(loc.String(), failure.ErrSnapshotOf), "write "+loc.Volume)
	}
	return loc, err
}
