package listing

import (
	"io/fs"
	"testing"
)

func TestModeString(t *testing.T) {
	t.Parallel()
	for mode, want := range map[fs.FileMode]string{
		0o644:                                     "-rw-r--r--",
		fs.ModeDir | 0o755:                        "drwxr-xr-x",
		fs.ModeSymlink | 0o777:                    "lrwxrwxrwx",
		fs.ModeSetuid | 0o755:                     "-rwsr-xr-x",
		fs.ModeSetgid | 0o644:                     "-rw-r-Sr--",
		fs.ModeDir | fs.ModeSticky | 0o777:        "drwxrwxrwt",
		fs.ModeSticky | 0o600:                     "-rw------T",
		fs.ModeNamedPipe | 0o600:                  "prw-------",
		fs.ModeSocket:                             "s---------",
		fs.ModeDevice | 0o660:                     "brw-rw----",
		fs.ModeDevice | fs.ModeCharDevice | 0o666: "crw-rw-rw-",
		fs.ModeIrregular:                          "?---------",
	} {
		if got := ModeString(mode); got != want {
			t.Errorf("modeString(%v) = %s, want %s", mode, got, want)
		}
	}
}
