package volumetest

import (
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

// TestOddNumber names the column that holds no number an inode can have: in the error, and in what
// a repair has done.
func TestOddNumber(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]struct{ err, done string }{
		"mtime_ns = 2.5e20":                    {"table node holds REAL in column mtime_ns", "mtime_ns set to 9223372036854775807"},
		"atime_ns = 'x'":                       {"table node holds TEXT in column atime_ns", "atime_ns set to 0"},
		"uid = 1 << 40, mode = mode + 1048576": {"a number that no inode can have", "mode set to 0100640, uid set to 65534"},
		"gid = -1":                             {"a number that no inode can have", "gid set to 65534"},
	} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			v, path := viewVolume(t)
			must.Do(t, v.WriteFile("f", []byte("content"), 0o640))
			sqlite(t, path, "UPDATE node SET "+set+" WHERE ino > 1")
			if _, err := v.Stat("f"); err == nil || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%v, want %s", err, want.err)
			}
			r, err := v.Repair(t.Context())
			must.Do(t, err)
			done := ""
			for _, repair := range r.Repairs {
				done += repair.Done + "\n"
			}
			if !strings.Contains(done, want.done) || strings.Contains(done, "mode") && !strings.Contains(set, "mode") {
				t.Errorf("%s, want %s", done, want.done)
			}
			WantClean(t, v)
		})
	}
}
