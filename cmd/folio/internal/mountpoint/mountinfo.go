// Package mountpoint knows the volumes that are mounted, as the kernel lists them. It checks the
// directories that a volume is to be mounted at, and unmounts volumes.
package mountpoint

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A Mount is a file system that is mounted.
type Mount struct {
	Device   string // of its files, MAJOR:MINOR
	Type     string // "fuse.folio" if it is a volume
	Source   string // of a volume its absolute path, perhaps with a colon and a directory in it
	Dir      string // where it is mounted
	User     string // the number of the user who mounted it, "" if the kernel does not tell
	ReadOnly bool
}

// volumeType is the type of mounted volumes.
const volumeType = "fuse.folio"

// IsVolume reports whether the mount is of a volume.
func (m *Mount) IsVolume() bool { return m.Type == volumeType }

// isFUSE reports whether a daemon serves the mount, which may be dead.
func (m *Mount) isFUSE() bool { return strings.HasPrefix(m.Type, "fuse") }

// Volumes returns the mounts of volumes. On a system other than Linux there are none.
func Volumes() ([]Mount, error) {
	all, err := list()
	return slices.DeleteFunc(all, func(m Mount) bool { return !m.IsVolume() }), err
}

// list returns all mounts that this process sees, in the order in which they came.
func list() ([]Mount, error) {
	if runtime.GOOS != "linux" {
		return nil, nil
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f)
}

// read reads the lines of mountinfo, as proc(5) describes them:
//
//	36 35 98:0 /root /dir rw,noatime master:1 - fuse.folio /v.folio rw,user_id=0
func read(r io.Reader) (mounts []Mount, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		before, after, ok := strings.Cut(lines.Text(), " - ")
		first, last := strings.Split(before, " "), strings.Split(after, " ")
		if !ok || len(first) < 6 || len(last) < 3 {
			return nil, fmt.Errorf("mountinfo: a line that makes no sense: %q", lines.Text())
		}
		here, super := strings.Split(first[5], ","), strings.Split(last[2], ",")
		m := Mount{
			Device: first[2], Type: last[0], Source: unescape(last[1]), Dir: unescape(first[4]),
			ReadOnly: slices.Contains(here, "ro") || slices.Contains(super, "ro"),
		}
		for _, o := range super {
			if user, ok := strings.CutPrefix(o, "user_id="); ok {
				m.User = user
			}
		}
		mounts = append(mounts, m)
	}
	return mounts, lines.Err()
}

// unescape returns a name in mountinfo, where the kernel writes spaces, tabs, line feeds, number
// signs and backslashes in octal.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`).Replace

// at returns the mount at a resolved directory. If there are several, it is the mount that is seen.
func at(mounts []Mount, dir string) (Mount, bool) {
	for _, m := range slices.Backward(mounts) {
		if m.Dir == dir {
			return m, true
		}
	}
	return Mount{}, false
}

// around returns the mount that a resolved directory is in.
func around(mounts []Mount, dir string) (Mount, bool) {
	for _, dir := range upward(dir) {
		if m, ok := at(mounts, dir); ok {
			return m, true
		}
	}
	return Mount{}, false
}

// upward returns a directory and all directories above it.
func upward(dir string) []string {
	dirs := []string{dir}
	for up := filepath.Dir(dir); up != dir; up = filepath.Dir(dir) {
		dir = up
		dirs = append(dirs, dir)
	}
	return dirs
}
