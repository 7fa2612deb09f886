package archive

import (
	"fmt"
	"io/fs"
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

var formats = []struct {
	format  Format
	name    string
	endings []string
}{
	{Tar, "tar", []string{".tar"}},
	{TarGzip, "tar.gz", []string{".tar.gz", ".tgz"}},
	{Zip, "zip", []string{".zip"}},
	{Sqlar, "sqlar", []string{".sqlar"}},
}

// String returns the name by which ParseFormat knows a format.
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
		if k.name == name || k.format == TarGzip && name == "tgz" {
			return k.format, nil
		}
	}
	return 0, fmt.Errorf("%q is no format: write tar, tar.gz, zip or sqlar", name)
}

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

// The types of a POSIX st_mode.
var posixTypes = map[fs.FileMode]uint32{
	0: 0o100000, fs.ModeDir: 0o040000, fs.ModeSymlink: 0o120000, fs.ModeNamedPipe: 0o010000,
	fs.ModeDevice: 0o060000, fs.ModeDevice | fs.ModeCharDevice: 0o020000,
}

// posixPerm returns permissions, and setuid, setgid and sticky bit, as POSIX has them.
func posixPerm(mode fs.FileMode) uint32 {
	m := uint32(mode.Perm())
	for bit, posix := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if mode&bit != 0 {
			m |= posix
		}
	}
	return m
}
