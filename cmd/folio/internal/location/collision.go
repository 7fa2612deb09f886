package location

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
)

// MayName refuses a new file on disk that reads as VOLUME:PATH, where VOLUME is a volume that is
// there: from then on the name would hide that path of the volume.
func MayName(name, way string) error {
	if _, err := os.Lstat(name); err == nil {
		return nil
	}
	if volume := VolumeBefore(name); volume != "" {
		return failure.Hint(failure.At(name, failure.ErrInVolume), way)
	}
	return nil
}

// VolumeBefore returns the part of a name up to a colon that is the path of a volume, "" if there
// is none.
func VolumeBefore(name string) string {
	drive := len(filepath.VolumeName(name)) // of Windows, with its colon
	for end := strings.LastIndexByte(name, ':'); end > drive; end = strings.LastIndexByte(name[:end], ':') {
		if IsVolume(name[:end]) {
			return name[:end]
		}
	}
	return ""
}

// WholeVolume returns the path of a volume that the command line names as VOLUME, VOLUME: or
// VOLUME:/.
func WholeVolume(arg string) (string, error) {
	loc := Parse(arg)
	if loc.Path != "." {
		return "", failure.Hint(failure.At(arg, failure.ErrNotWhole), "write "+loc.Volume)
	}
	return loc.Volume, nil
}
