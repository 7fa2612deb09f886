package main

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
		if got := modeString(mode); got != want {
			t.Errorf("modeString(%v) = %s, want %s", mode, got, want)
		}
	}
}

func TestDevNumbers(t *testing.T) {
	t.Parallel()
	for rdev, want := range map[uint64][2]uint32{0x103: {1, 3}, 0x10082c: {8, 300}, 0xfffff00000000000 | 0xfff00: {0xffffffff, 0}} {
		major, minor := devNumbers(rdev)
		if got := [2]uint32{major, minor}; got != want {
			t.Errorf("devNumbers(%#x) = %v, want %v", rdev, got, want)
		}
	}
}
