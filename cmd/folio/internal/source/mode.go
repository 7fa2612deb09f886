package source

import "io/fs"

// The bits of a POSIX st_mode. Archives carry them, whatever system reads the archive.
const (
	sIFMT   = 0o170000
	sIFIFO  = 0o010000
	sIFCHR  = 0o020000
	sIFDIR  = 0o040000
	sIFBLK  = 0o060000
	sIFREG  = 0o100000
	sIFLNK  = 0o120000
	sIFSOCK = 0o140000
	sISUID  = 0o4000
	sISGID  = 0o2000
	sISVTX  = 0o1000
)

var typeModes = map[uint32]fs.FileMode{
	sIFREG: 0, sIFDIR: fs.ModeDir, sIFLNK: fs.ModeSymlink, sIFIFO: fs.ModeNamedPipe, sIFSOCK: fs.ModeSocket,
	sIFBLK: fs.ModeDevice, sIFCHR: fs.ModeDevice | fs.ModeCharDevice,
}

// FileMode returns the Go form of a POSIX st_mode. A type that POSIX does not know is ModeIrregular.
func FileMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	if t, ok := typeModes[m&sIFMT]; ok {
		mode |= t
	} else {
		mode |= fs.ModeIrregular
	}
	if m&sISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if m&sISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if m&sISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

// linuxDev is Linux's st_rdev of a device, which a volume holds whatever the system.
func linuxDev(major, minor uint32) uint64 {
	return uint64(major&0xfffff000)<<32 | uint64(major&0xfff)<<8 | uint64(minor&0xffffff00)<<12 | uint64(minor&0xff)
}
