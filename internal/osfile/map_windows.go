package osfile

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// SharesMemory says whether processes can share memory by MapWords of a file.
const SharesMemory = true

// MapsBeyondEnd says that a map can be longer than its file, and takes no memory for that. Here it
// would make the file longer.
const MapsBeyondEnd = false

// mapShared maps nothing: a file that is mapped can be neither cut nor replaced on this system, not
// even by other processes.
func (d *description) mapShared(int64, int) ([]byte, error) { return nil, ErrNoMap }

// mapGranularity is where a map can begin.
const mapGranularity = 64 << 10

// mapWritable maps for reading and writing, or for reading alone if the file was opened so.
func (d *description) mapWritable(off int64, n int) ([]byte, error) {
	protection, access := uint32(windows.PAGE_READONLY), uint32(windows.FILE_MAP_READ)
	if d.flag&os.O_RDWR != 0 {
		protection, access = windows.PAGE_READWRITE, windows.FILE_MAP_READ|windows.FILE_MAP_WRITE
	}
	end := uint64(off) + uint64(n)
	h, err := windows.CreateFileMapping(windows.Handle(d.fd), nil, protection, uint32(end>>32), uint32(end), nil)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(h) // the view stays valid without it
	start := off &^ (mapGranularity - 1)
	addr, err := windows.MapViewOfFile(h, access, uint32(start>>32), uint32(start), uintptr(off-start)+uintptr(n))
	if err != nil {
		return nil, err
	}
	view := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), int(off-start)+n)
	return view[off-start:], nil
}

// unmap takes a slice of mapWritable.
func unmap(data []byte) error {
	return windows.UnmapViewOfFile(uintptr(unsafe.Pointer(unsafe.SliceData(data))) &^ (mapGranularity - 1))
}
