package archive

import (
	"fmt"
	"slices"
	"strings"
)

// A Format is a kind of archive.
type Format int

// The formats.
const (
	Tar Format = iota + 1
	TarGzip
	TarZstd
	Zip
	Sqlar
)

var formats = []struct {
	format  Format
	name    string
	endings []string
}{
	{Tar, "tar", []string{".tar"}},
	{TarGzip, "tar.gz", []string{".tar.gz", ".tgz"}},
	{TarZstd, "tar.zst", []string{".tar.zst", ".tzst"}},
	{Zip, "zip", []string{".zip"}},
	{Sqlar, "sqlar", []string{".sqlar"}},
}

// String returns the name that ParseFormat knows.
func (f Format) String() string {
	for _, k := range formats {
		if k.format == f {
			return k.name
		}
	}
	return ""
}

// ParseFormat returns the format that a name means.
func ParseFormat(name string) (Format, error) {
	for _, k := range formats {
		if k.name == name || slices.Contains(k.endings, "."+name) {
			return k.format, nil
		}
	}
	return 0, fmt.Errorf("%q is no format: write tar, tar.gz, tar.zst, zip or sqlar", name)
}

// IsTar reports whether the format is a tar archive, plain or compressed.
func (f Format) IsTar() bool { return f == Tar || f == TarGzip || f == TarZstd }

// FormatOf returns the format that the end of a file's name means, in whatever case.
func FormatOf(file string) (f Format, ok bool) {
	file = strings.ToLower(file)
	for _, k := range formats {
		for _, ending := range k.endings {
			if strings.HasSuffix(file, ending) {
				return k.format, true
			}
		}
	}
	return 0, false
}
