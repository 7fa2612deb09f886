//go:build linux && !386 && !arm && !mips && !mipsle

package ring

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A uring is an io_uring with room for one command, which one thread uses.
type uring struct {
	fd   int
	maps [][]byte

	sqTail, cqHead, cqTail *uint32
	sqMask, cqMask         uint32
	array                  unsafe.Pointer // of the numbers of submitted entries
	sqes, cqes             unsafe.Pointer
}

// Of linux/io_uring.h.
const (
	setupSingleIssuer = 1 << 12
	setupSQE128       = 1 << 10
	enterGetEvents    = 1
	opURingCmd        = 46

	offSQRing = 0
	offCQRing = 0x8000000
	offSQEs   = 0x10000000

	sqeSize = 128
	cqeSize = 16
)

// A params is struct io_uring_params.
type params struct {
	sqEntries, cqEntries, flags, sqThreadCPU, sqThreadIdle, features, wqFD uint32
	_                                                                      [3]uint32
	sq                                                                     struct {
		head, tail, mask, entries, flags, dropped, array, _ uint32
		_                                                   uint64
	}
	cq struct {
		head, tail, mask, entries, overflow, cqes, flags, _ uint32
		_                                                   uint64
	}
}

// newURing makes a ring for the calling thread.
func newURing() (*uring, error) {
	p := params{flags: setupSQE128 | setupSingleIssuer}
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&p)), 0)
	if errno != 0 {
		return nil, fmt.Errorf("io_uring_setup: %w", errno)
	}
	u := &uring{fd: int(fd)}
	sq := u.mmap(offSQRing, p.sq.array+p.sqEntries*4)
	cq := u.mmap(offCQRing, p.cq.cqes+p.cqEntries*cqeSize)
	sqes := u.mmap(offSQEs, p.sqEntries*sqeSize)
	if len(u.maps) < 3 {
		u.close()
		return nil, fmt.Errorf("io_uring: %w", unix.ENOMEM)
	}
	word := func(b []byte, off uint32) *uint32 { return (*uint32)(unsafe.Pointer(&b[off])) }
	u.sqTail, u.sqMask = word(sq, p.sq.tail), *word(sq, p.sq.mask)
	u.cqHead, u.cqTail, u.cqMask = word(cq, p.cq.head), word(cq, p.cq.tail), *word(cq, p.cq.mask)
	u.array, u.sqes, u.cqes = unsafe.Pointer(&sq[p.sq.array]), unsafe.Pointer(&sqes[0]), unsafe.Pointer(&cq[p.cq.cqes])
	return u, nil
}

// mmap maps a part of the ring. It returns nil if that fails.
func (u *uring) mmap(off int64, size uint32) []byte {
	b, err := unix.Mmap(u.fd, off, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return nil
	}
	u.maps = append(u.maps, b)
	return b
}

// close ends the ring, and cancels its command.
func (u *uring) close() {
	for _, b := range u.maps {
		_ = unix.Munmap(b)
	}
	_ = unix.Close(u.fd)
}

// A command is what a uring_cmd of FUSE says.
type command struct {
	dev    int
	op     uint32
	iov    *unix.Iovec // two, of a registration
	commit uint64
	queue  uint16
}

// submit submits a command, and waits until it is completed if wait is 1. A command that is
// registered or fetches is completed when a request has come.
func (u *uring) submit(c *command, wait uintptr) error {
	tail := *u.sqTail
	i := tail & u.sqMask
	*(*uint32)(unsafe.Add(u.array, i*4)) = i
	s := unsafe.Slice((*byte)(unsafe.Add(u.sqes, i*sqeSize)), sqeSize)
	clear(s)
	s[0] = opURingCmd
	binary.NativeEndian.PutUint32(s[4:], uint32(c.dev))
	binary.NativeEndian.PutUint32(s[8:], c.op)
	if c.iov != nil {
		binary.NativeEndian.PutUint64(s[16:], uint64(uintptr(unsafe.Pointer(c.iov))))
		binary.NativeEndian.PutUint32(s[24:], 2)
	}
	binary.NativeEndian.PutUint64(s[56:], c.commit)
	binary.NativeEndian.PutUint16(s[64:], c.queue)
	atomic.StoreUint32(u.sqTail, tail+1)
	return u.enter(1, wait)
}

// enter lets the kernel take what was submitted, and waits for a completion if wait is 1.
func (u *uring) enter(submitted, wait uintptr) error {
	for {
		n, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(u.fd), submitted, wait, enterGetEvents, 0, 0)
		switch {
		case errno == 0 && (wait == 0 || u.completed()):
			return nil
		case errno == 0:
			submitted -= min(submitted, n)
		case errno != unix.EINTR && errno != unix.EAGAIN:
			return fmt.Errorf("io_uring_enter: %w", errno)
		case u.completed():
			return nil
		}
	}
}

func (u *uring) completed() bool { return *u.cqHead != atomic.LoadUint32(u.cqTail) }

// refusal returns the error of the command, if it was completed with one. The result stays.
func (u *uring) refusal() error {
	if !u.completed() {
		return nil
	}
	if res := *(*int32)(unsafe.Add(u.cqes, (*u.cqHead&u.cqMask)*cqeSize+8)); res < 0 {
		return unix.Errno(-res)
	}
	return nil
}

// result takes the result of the command, which was completed, and returns its error.
func (u *uring) result() error {
	err := u.refusal()
	atomic.StoreUint32(u.cqHead, *u.cqHead+1)
	return err
}
