package runner

import (
	"maps"
	"strings"
	"testing"
)

const straceOutput = `41 openat(AT_FDCWD, "/etc/hosts", O_RDONLY) = 3
41 newfstatat(AT_FDCWD, "folio-lab:begin", 0xc0000, AT_SYMLINK_NOFOLLOW) = -1 ENOENT (No such file or directory)
41 pwrite64(5, ""..., 4096, 8192)        = 4096
42 fsync(5 <unfinished ...>
41 pread64(5, ""..., 16, 24)             = 16
42 <... fsync resumed>)                  = 0
42 pread64(5, ""..., 16, 24)             = -1 EAGAIN (Resource temporarily unavailable)
41 +++ exited with 0 +++
42 newfstatat(AT_FDCWD, "folio-lab:end", 0xc0000, AT_SYMLINK_NOFOLLOW) = -1 ENOENT (No such file or directory)
42 close(5)                              = 0
`

// Calls are counted once, between the marks, or all of them for a whole process.
func TestCountCalls(t *testing.T) {
	t.Parallel()
	got, err := countCalls(strings.NewReader(straceOutput), false)
	if want := map[string]int64{"pwrite64": 1, "fsync": 1, "pread64": 2, "fdatasync": 0}; err != nil || !maps.Equal(got, want) {
		t.Errorf("between the marks %v, %v; want %v", got, err, want)
	}
	whole := strings.ReplaceAll(straceOutput, "folio-lab:", "")
	got, err = countCalls(strings.NewReader(whole), true)
	if want := map[string]int64{"openat": 1, "newfstatat": 2, "pwrite64": 1, "fsync": 1, "pread64": 2, "close": 1, "fdatasync": 0}; err != nil || !maps.Equal(got, want) {
		t.Errorf("of a whole process %v, %v; want %v", got, err, want)
	}
	if got, err = countCalls(strings.NewReader(whole), false); err == nil {
		t.Errorf("without marks %v, want an error", got)
	}
}
