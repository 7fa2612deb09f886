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

// A Foreign is a kind of file that folio does not write, as the end of a name tells it.
type Foreign struct {
	Ending  string
	Program string // writes the compressed form of standard input to standard output; "" if none does
	Tar     bool   // the name is a compressed tar archive's
}

// foreign are the endings of archives and of compressed files, except the ones of formats.
var foreign = []Foreign{
	{".xz", "xz", false},
	{".txz", "xz", true},
	{".bz2", "bzip2", false},
	{".tbz2", "bzip2", true},
	{".tbz", "bzip2", true},
	{".tb2", "bzip2", true},
	{".lz", "lzip", false},
	{".tlz", "lzip", true},
	{".lzma", "lzma", false},
	{".lz4", "lz4", false},
	{".tlz4", "lz4", true},
	{".lzo", "lzop", false},
	{".br", "brotli", false},
	{".z", "compress", false},
	{".taz", "compress", true},
	{".gz", "gzip", false},
	{".zst", "zstd", false},
	{".7z", "", false},
	{".rar", "", false},
	{".iso", "", false},
	{".cpio", "", false},
	{".cab", "", false},
	{".lzh", "", false},
	{".lha", "", false},
	{".arj", "", false},
	{".ace", "", false},
	{".xar", "", false},
	{".wim", "", false},
	{".dmg", "", false},
	{".squashfs", "", false},
	{".zipx", "", false},
	{".jar", "", false},
	{".war", "", false},
}

// ForeignOf returns the kind that the end of a file's name means, in whatever case, if folio does
// not write it. The name of a directory, with a slash at its end, means none.
func ForeignOf(file string) (f Foreign, ok bool) {
	if _, ours := FormatOf(file); ours {
		return Foreign{}, false
	}
	file = strings.ToLower(file)
	for _, f := range foreign {
		if rest, ok := strings.CutSuffix(file, f.Ending); ok {
			if strings.HasSuffix(rest, ".tar") {
				f.Ending, f.Tar = ".tar"+f.Ending, true
			}
			return f, true
		}
	}
	return Foreign{}, false
}
