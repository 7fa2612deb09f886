package main

import (
	"os"
	"path/filepath"
	"strings"
)

// mayName refuses a new file on disk that reads as VOLUME:PATH, where VOLUME is a volume that is
// there: from then on the name would hide that path of the volume.
func mayName(name, way string) error {
	if _, err := os.Lstat(name); err == nil {
		return nil
	}
	if volume := volumeBefore(name); volume != "" {
		return hint(failure(name, errInVolume), way)
	}
	return nil
}

// volumeBefore returns the part of a name up to a colon that is the path of a volume, "" if there
// is none.
func volumeBefore(name string) string {
	drive := len(filepath.VolumeName(name)) // of Windows, with its colon
	for end := strings.LastIndexByte(name, ':'); end > drive; end = strings.LastIndexByte(name[:end], ':') {
		if isVolume(name[:end]) {
			return name[:end]
		}
	}
	return ""
}

// wholeVolume returns the path of a volume that the command line names as VOLUME, VOLUME: or
// VOLUME:/.
func wholeVolume(arg string) (string, error) {
	loc := locate(arg)
	if loc.path != "." {
		return "", hint(failure(arg, errNotWhole), "write "+loc.volume)
	}
	return loc.volume, nil
}
