package osfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A description is an open file with its own locks. Closing it does not affect the locks of other
// code: there is no registry here.
type description struct {
	file  *os.File
	fd    uintptr
	flag  int
	id    fileID
	locks ownLocks
}

func acquire(name string, flag int, perm fs.FileMode) (*description, error) {
	info, err := os.Lstat(name)
	switch {
	case err == nil && flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, syscall.EEXIST
	case err == nil && !info.Mode().IsRegular():
		return nil, kindError(info.Mode())
	}
	var file *os.File
	err = insist(func() (err error) {
		file, err = openShared(name, flag, perm)
		return err
	})
	if err != nil {
		return nil, err
	}
	d := &description{file: file, fd: file.Fd(), flag: flag}
	if d.id, err = idOf(windows.Handle(d.fd)); err == nil && flag&os.O_TRUNC != 0 {
		err = file.Truncate(0)
	}
	if err != nil {
		return nil, cmp.Or(err, file.Close())
	}
	return d, nil
}

// shareAll lets other processes read, write and remove the open file.
const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

// openShared opens a file such that others may remove and rename it, which os.OpenFile forbids them
// on this system.
func openShared(name string, flag int, perm fs.FileMode) (*os.File, error) {
	path, err := systemName(name)
	if err != nil {
		return nil, err
	}
	access, mode, attributes := uint32(windows.GENERIC_READ), uint32(windows.OPEN_EXISTING), uint32(windows.FILE_ATTRIBUTE_NORMAL)
	if flag&(os.O_RDWR|os.O_WRONLY|os.O_CREATE) != 0 {
		access |= windows.GENERIC_WRITE
	}
	switch {
	case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		mode = windows.CREATE_NEW
	case flag&os.O_CREATE != 0:
		mode = windows.OPEN_ALWAYS
	}
	if flag&os.O_CREATE != 0 && perm&0o200 == 0 {
		attributes = windows.FILE_ATTRIBUTE_READONLY
	}
	h, err := windows.CreateFile(path, access, shareAll, nil, mode, attributes, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(h), name), nil
}

// longName is the length from which on a name needs the prefix of long names.
const longName = 248

// systemName returns an absolute name as the system's calls take it.
func systemName(name string) (*uint16, error) {
	switch {
	case len(name) < longName || name[:2] == `\\` && (name[2] == '?' || name[2] == '.'):
	case name[:2] == `\\`:
		name = `\\?\UNC` + name[1:]
	default:
		name = `\\?\` + name
	}
	return windows.UTF16PtrFromString(name)
}

// tries is how often a call is made again that a file in use refuses.
const tries = 10

// insist calls fn again, for half a second at most, while it says that the file is in use: virus
// scanners and indexers open files a moment after they were made, and do not share them. SQLite
// does the same.
func insist(fn func() error) error {
	var err error
	for i := range tries {
		if err = fn(); !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			break
		}
		time.Sleep(time.Duration(2*i) * 5 * time.Millisecond)
	}
	return err
}

// release ends the use of d. The system drops the locks with the handle, but it may take its time:
// they go first.
func release(d *description) error {
	return cmp.Or(d.unlockAll(), d.file.Close())
}

// standardInfo is FILE_STANDARD_INFO.
type standardInfo struct {
	allocated, size int64
	links           uint32
	removed         bool // its name goes with the last handle
	directory       bool
}

func (d *description) info() (s standardInfo, err error) {
	err = windows.GetFileInformationByHandleEx(windows.Handle(d.fd), windows.FileStandardInfo, (*byte)(unsafe.Pointer(&s)), uint32(unsafe.Sizeof(s)))
	return s, err
}

func (d *description) size() (int64, error) {
	s, err := d.info()
	return s.size, err
}

func (d *description) links() (uint64, error) {
	s, err := d.info()
	return uint64(s.links), err
}

// named reports whether the file still has a name, under which it can be opened.
func (d *description) named() bool {
	s, err := d.info()
	return err != nil || !s.removed && s.links > 0
}

// isAt reports whether a name, links not followed, leads to the file. A name that was removed stays
// until the last handle is closed, but cannot be opened.
func (d *description) isAt(name string) (bool, error) {
	if !d.named() {
		return false, nil
	}
	path, err := systemName(name)
	if err != nil {
		return false, err
	}
	h, err := windows.CreateFile(path, 0, shareAll, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_OPEN_REPARSE_POINT|windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return false, err
	}
	defer windows.CloseHandle(h)
	id, err := idOf(h)
	return id == d.id, err
}

// A fileID names a file for as long as a handle of it is open.
type fileID struct {
	volume      uint32
	high, index uint32
}

func idOf(h windows.Handle) (fileID, error) {
	var info windows.ByHandleFileInformation
	err := windows.GetFileInformationByHandle(h, &info)
	return fileID{info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow}, err
}
