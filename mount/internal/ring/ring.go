//go:build linux && !386 && !arm && !mips && !mipsle

// Package ring lets the requests of a FUSE connection come over io_uring. The kernel has a queue
// for each processor. Threads that are pinned to the processor serve it, so a request and its
// answer wake no other processor, and one system call both answers a request and waits for the
// next.
//
// Each thread has one entry of the queue, and a ring of its own. So a request that takes long, for
// example because it waits for a disk, holds up no other one. The kernel gives a request to the
// entry that was free last: while requests come one after the other, one thread serves them all.
//
//	program --write(2)--> queue of its processor --> entry --> thread: Handler --> commit, and fetch
package ring

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A Handler answers a request. Both are split in several pieces; it returns how many bytes of out
// it has filled. The pieces of in are valid until it returns.
type Handler func(in, out [][]byte) int

// A Ring is the threads of a connection.
type Ring struct {
	dev     int
	payload int
	each    int
	handle  Handler
	threads sync.WaitGroup
}

// Enabled reports whether the kernel offers FUSE over io_uring, and lets this process use it.
func Enabled() bool {
	b, err := os.ReadFile("/sys/module/fuse/parameters/enable_uring")
	if err != nil || !strings.HasPrefix(string(b), "Y") {
		return false
	}
	u, err := newURing()
	if err != nil {
		return false
	}
	u.close()
	return true
}

// Start lets the requests of the connection of dev, which has agreed to io_uring, come to a
// handler. Payload is how many bytes a request reads or writes at most. If Start fails, the
// connection is of no use any more.
func Start(dev, payload int, handle Handler) (*Ring, error) {
	queues, err := possible()
	if err != nil {
		return nil, err
	}
	r := &Ring{dev: dev, payload: payload, handle: handle}
	r.each = min(mostEach, max(leastEach, mostThreads/queues))
	started := make(chan error)
	for cpu := range queues {
		for range r.each {
			r.threads.Go(func() { r.serve(cpu, started) })
		}
	}
	for range queues * r.each {
		err = errors.Join(err, <-started)
	}
	return r, err
}

// How many threads serve a queue, and all queues.
const (
	mostEach, leastEach = 16, 2
	mostThreads         = 128
)

// Each returns how many threads serve a queue: so many requests of it are answered at once.
func (r *Ring) Each() int { return r.each }

// Wait returns when the connection has ended.
func (r *Ring) Wait() { r.threads.Wait() }

// possible returns how many processors the system can have: the kernel wants a queue for each.
func possible() (int, error) {
	b, err := os.ReadFile("/sys/devices/system/cpu/possible")
	if err != nil {
		return 0, err
	}
	list := strings.TrimSpace(string(b))
	last, err := strconv.Atoi(list[strings.LastIndexAny(list, ",-")+1:])
	return last + 1, err
}

// serve is a thread: it registers an entry, and answers the requests that come to it.
func (r *Ring) serve(cpu int, started chan<- error) {
	runtime.LockOSThread() // for good: the thread ends with the goroutine
	var set unix.CPUSet
	set.Set(cpu)
	_ = unix.SchedSetaffinity(0, &set) // a processor that is off, or not ours, is served by threads that are not pinned
	e, err := r.register(cpu)
	started <- err
	if err != nil {
		return
	}
	defer e.close()
	for e.next() == nil {
		e.answer(r.handle)
	}
}

// An entry carries one request at a time.
type entry struct {
	ring    *uring
	command command
	memory  []byte // both of the following
	header  []byte
	payload []byte
	iov     [2]unix.Iovec
	request [headerSize]byte // a copy of the header, as the answer overwrites it
	content []byte           // of the request
}

// Layout of the header of an entry, struct fuse_uring_req_header, and of what is in it.
const (
	headerSize    = 288
	offOpHeader   = 128
	offCommit     = 256 + 8
	offPayload    = 256 + 16
	inHeaderSize  = 40
	outHeaderSize = 16

	payloadAt = 4096 // in memory
)

// Of enum fuse_uring_cmd.
const (
	cmdRegister = 1
	cmdCommit   = 2
)

// register makes an entry, and lets a request come to it.
func (r *Ring) register(cpu int) (*entry, error) {
	u, err := newURing()
	if err != nil {
		return nil, err
	}
	e := &entry{ring: u, command: command{dev: r.dev, op: cmdRegister, queue: uint16(cpu)}}
	e.memory, err = unix.Mmap(-1, 0, payloadAt+r.payload, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		u.close()
		return nil, err
	}
	e.header, e.payload = e.memory[:headerSize], e.memory[payloadAt:]
	e.iov[0].Base, e.iov[1].Base = &e.header[0], &e.payload[0]
	e.iov[0].SetLen(headerSize)
	e.iov[1].SetLen(len(e.payload))
	e.command.iov = &e.iov[0]
	if err = u.submit(&e.command, 0); err == nil {
		err = u.refusal() // what is completed without an error is a request, for next
	}
	if err != nil {
		e.close()
	}
	return e, err
}

func (e *entry) close() {
	e.ring.close()
	_ = unix.Munmap(e.memory)
}

// next waits for a request. The answer to the one before goes to the kernel by the same call.
func (e *entry) next() (err error) {
	if e.command.op == cmdRegister {
		err = e.ring.enter(0, 1)
	} else {
		err = e.ring.submit(&e.command, 1)
	}
	if err != nil {
		return err
	}
	if err := e.ring.result(); err != nil {
		return err
	}
	e.command.op, e.command.iov = cmdCommit, nil
	e.command.commit = binary.NativeEndian.Uint64(e.header[offCommit:])
	return nil
}

// maxShort is how long the content of a request is at most that is copied: a name, or two. An
// answer may be written while they are in use. The answer to a request with a longer one is short,
// and is written at the end.
const maxShort = 8 << 10

// answer answers the request.
func (e *entry) answer(handle Handler) {
	copy(e.request[:], e.header)
	size := int(binary.NativeEndian.Uint32(e.header[offPayload:]))
	op := int(binary.NativeEndian.Uint32(e.header)) - inHeaderSize - size
	content := e.payload[:size]
	if size <= maxShort {
		e.content = append(e.content[:0], content...)
		content = e.content
	}
	n := handle([][]byte{e.request[:inHeaderSize], e.request[offOpHeader : offOpHeader+op], content}, [][]byte{e.header[:outHeaderSize], e.payload})
	if n < outHeaderSize {
		n = e.fail(unix.EIO)
	}
	binary.NativeEndian.PutUint32(e.header[offPayload:], uint32(n-outHeaderSize))
}

// fail answers with an error.
func (e *entry) fail(errno unix.Errno) int {
	binary.NativeEndian.PutUint32(e.header, outHeaderSize)
	binary.NativeEndian.PutUint32(e.header[4:], uint32(-int32(errno)))
	copy(e.header[8:outHeaderSize], e.request[8:])
	return outHeaderSize
}
