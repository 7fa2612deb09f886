package posix

import (
	"io/fs"
	"math"
	"time"
)

// The bits of a POSIX st_mode. Volumes and archives hold them, whatever the system.
const (
	ModeType    = 0o170000
	ModeFifo    = 0o010000
	ModeChar    = 0o020000
	ModeDir     = 0o040000
	ModeBlock   = 0o060000
	ModeRegular = 0o100000
	ModeSymlink = 0o120000
	ModeSocket  = 0o140000
	ModeSetuid  = 0o4000
	ModeSetgid  = 0o2000
	ModeSticky  = 0o1000
)

// typeModes maps the type bits of st_mode to the ones of fs.FileMode.
var typeModes = [16]fs.FileMode{
	fs.ModeIrregular,
	ModeFifo >> 12:    fs.ModeNamedPipe,
	ModeChar >> 12:    fs.ModeDevice | fs.ModeCharDevice,
	3:                 fs.ModeIrregular,
	ModeDir >> 12:     fs.ModeDir,
	5:                 fs.ModeIrregular,
	ModeBlock >> 12:   fs.ModeDevice,
	7:                 fs.ModeIrregular,
	ModeRegular >> 12: 0,
	9:                 fs.ModeIrregular,
	ModeSymlink >> 12: fs.ModeSymlink,
	11:                fs.ModeIrregular,
	ModeSocket >> 12:  fs.ModeSocket,
	13:                fs.ModeIrregular, fs.ModeIrregular, fs.ModeIrregular,
}

// FileMode converts a POSIX st_mode. A type that POSIX does not know is fs.ModeIrregular.
func FileMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m&0o777) | typeModes[m>>12&0xf]
	if m&ModeSetuid != 0 {
		mode |= fs.ModeSetuid
	}
	if m&ModeSetgid != 0 {
		mode |= fs.ModeSetgid
	}
	if m&ModeSticky != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

// Mode is the inverse of FileMode. ok reports whether POSIX knows the type.
func Mode(mode fs.FileMode) (m uint32, ok bool) {
	m = uint32(mode.Perm())
	if mode&fs.ModeSetuid != 0 {
		m |= ModeSetuid
	}
	if mode&fs.ModeSetgid != 0 {
		m |= ModeSetgid
	}
	if mode&fs.ModeSticky != 0 {
		m |= ModeSticky
	}
	for i, typ := range typeModes {
		if typ == mode.Type() && typ != fs.ModeIrregular {
			return m | uint32(i)<<12, true
		}
	}
	return m, false
}

// Device returns the number of a device as Linux has it in st_rdev. Volumes hold it on any system.
func Device(major, minor uint32) uint64 {
	return uint64(major&0xfffff000)<<32 | uint64(major&0xfff)<<8 |
		uint64(minor&0xffffff00)<<12 | uint64(minor&0xff)
}

// DeviceNumbers splits the number of a device as Linux has it.
func DeviceNumbers(rdev uint64) (major, minor uint32) {
	major = uint32(rdev>>8)&0xfff | uint32(rdev>>32)&^0xfff
	minor = uint32(rdev)&0xff | uint32(rdev>>12)&^0xff
	return major, minor
}

// Nanoseconds returns t since 1970, or zero for the zero time.
func Nanoseconds(t time.Time, zero int64) int64 {
	if t.IsZero() {
		return zero
	}
	const limit = math.MaxInt64/int64(time.Second) - 1
	switch seconds := t.Unix(); {
	case seconds > limit:
		return math.MaxInt64
	case seconds < -limit:
		return math.MinInt64
	}
	return t.UnixNano()
}
