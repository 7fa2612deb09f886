package posix_test

import (
	"io/fs"
	"testing"

	"github.com/foliofs/folio/internal/posix"
)

func TestFileMode(t *testing.T) {
	t.Parallel()
	tests := map[uint32]fs.FileMode{
		0o100644: 0o644, 0o104755: fs.ModeSetuid | 0o755, 0o042775: fs.ModeDir | fs.ModeSetgid | 0o775,
		0o041777: fs.ModeDir | fs.ModeSticky | 0o777, 0o120777: fs.ModeSymlink | 0o777, 0o010600: fs.ModeNamedPipe | 0o600,
		0o020666: fs.ModeDevice | fs.ModeCharDevice | 0o666, 0o060660: fs.ModeDevice | 0o660, 0o140755: fs.ModeSocket | 0o755,
		0o644: fs.ModeIrregular | 0o644,
	}
	for m, want := range tests {
		if got := posix.FileMode(m); got != want {
			t.Errorf("FileMode(%#o) = %v, want %v", m, got, want)
		}
		back, ok := posix.Mode(want)
		if known := m&posix.ModeType != 0; back != m || ok != known {
			t.Errorf("Mode(%v) = %#o, %v, want %#o, %v", want, back, ok, m, known)
		}
	}
}

func TestDevice(t *testing.T) {
	t.Parallel()
	for rdev, want := range map[uint64][2]uint32{0x103: {1, 3}, 0x10082c: {8, 300}, 0xfffff00000000000 | 0xfff00: {0xffffffff, 0}} {
		major, minor := posix.DeviceNumbers(rdev)
		if got := [2]uint32{major, minor}; got != want {
			t.Errorf("DeviceNumbers(%#x) = %v, want %v", rdev, got, want)
		}
		if back := posix.Device(major, minor); back != rdev {
			t.Errorf("Device(%d, %d) = %#x, want %#x", major, minor, back, rdev)
		}
	}
}
