package archive

import (
	"fmt"
	"strings"
)

// A Format is a kind of archive.
type Format int

// The formats.
const (
	Tar Format = iota + 1
	TarGzip
	Zip
	Sqlar
)

var endings = map[string]Format{".tar": Tar, ".tar.gz": TarGzip, ".tgz": TarGzip, ".zip": Zip, ".sqlar": Sqlar}

// ParseFormat returns the format that a name means, for example tar.gz.
func ParseFormat(name string) (Format, error) {
	if f, ok := endings["."+name]; ok {
		return f, nil
	}
	return 0, fmt.Errorf("%q is no format: write tar, tar.gz, zip or sqlar", name)
}

// FormatOf returns the format that the end of a file's name means, in whatever case.
func FormatOf(file string) (f Format, ok bool) {
	file = strings.ToLower(file)
	for ending, f := range endings {
		if strings.HasSuffix(file, ending) {
			return f, true
		}
	}
	return 0, false
}
