package runner

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/lab/result"
)

// describeSystem adds the description that Linux gives.
func describeSystem(m *result.Machine) {
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		m.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	m.CPU = procField("/proc/cpuinfo", "model name")
	if kib, err := strconv.ParseInt(strings.TrimSuffix(procField("/proc/meminfo", "MemTotal"), " kB"), 10, 64); err == nil {
		m.Memory = kib << 10
	}
	if data, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(data), " ")
		if load, err := strconv.ParseFloat(first, 64); err == nil {
			m.Load = &load
		}
	}
}

// procField is the value of the first line "name : value" of a file; "" if there is none.
func procField(file, name string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// describeDir finds the mount that a directory is on: if the mount points of several lead to it,
// the longest.
func describeDir(path string) result.Dir {
	d := result.Dir{Path: path, Free: max(0, freeBytes(path))}
	data, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return d
	}
	best := ""
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		point := unescape(f[1])
		if len(point) >= len(best) && (point == "/" || path == point || strings.HasPrefix(path, point+"/")) {
			best = point
			d.Device, d.FileSystem, d.Options = f[0], f[2], f[3]
		}
	}
	d.NoJournal = d.FileSystem == "ext4" && !journals(path)
	return d
}

// journals reports whether the ext4 below a directory was made with a journal. It returns true if
// that is unknown, because most have one.
func journals(dir string) bool {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return true
	}
	device, err := filepath.EvalSymlinks(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)))
	if err != nil {
		return true
	}
	options, err := os.ReadFile(filepath.Join("/proc/fs/ext4", filepath.Base(device), "options"))
	return err != nil || bytes.Contains(options, []byte("\ndata=")) // says which data is journaled
}

// unescape undoes the octal escapes of a mount point.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace

// freeBytes is how much can be written; -1 if that is not known.
func freeBytes(path string) int64 {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return -1
	}
	return int64(st.Bavail) * int64(st.Bsize)
}
