//go:build !386 && !arm && !mips && !mipsle

package bench

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

func init() { roles["serve-floor"] = serveMaps }

// A node is an inode of a floor: a directory has names, in the order in which they were added.
type node struct {
	attr    fuse.Attr
	content []byte
	names   map[string]uint64
	order   []string
}

// A floor is a file system that is nothing but maps in memory, with the library and the options of
// package mount. It is the lower bound for the cost of a mount: the rest is the kernel's.
type floor struct {
	fuse.RawFileSystem
	mu    sync.RWMutex
	nodes map[uint64]*node
	last  uint64
}

const forever = 1 << 40

func (f *floor) String() string { return "floor" }

func (f *floor) entry(ino uint64, out *fuse.EntryOut) {
	*out = fuse.EntryOut{NodeId: ino, EntryValid: forever, AttrValid: forever, Attr: f.nodes[ino].attr}
}

func (f *floor) Lookup(_ <-chan struct{}, in *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	f.mu.RLock()
	defer f.mu.RUnlock()
	ino, ok := f.nodes[in.NodeId].names[name]
	if !ok {
		out.EntryValid = forever
		return fuse.OK
	}
	f.entry(ino, out)
	return fuse.OK
}

func (f *floor) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	f.mu.RLock()
	defer f.mu.RUnlock()
	out.AttrValid, out.Attr = forever, f.nodes[in.NodeId].attr
	return fuse.OK
}

func (f *floor) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.nodes[in.NodeId]
	if size, ok := in.GetSize(); ok {
		n.content = append(n.content, make([]byte, max(0, int(size)-len(n.content)))...)[:size]
		n.attr.Size = size
	}
	if mode, ok := in.GetMode(); ok {
		n.attr.Mode = n.attr.Mode&syscall.S_IFMT | mode
	}
	out.AttrValid, out.Attr = forever, n.attr
	return fuse.OK
}

func (f *floor) add(parent uint64, name string, mode uint32, out *fuse.EntryOut) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	n := &node{attr: fuse.Attr{Ino: f.last, Mode: mode, Nlink: 1, Blksize: 4096}}
	if mode&syscall.S_IFMT == syscall.S_IFDIR {
		n.names, n.attr.Nlink = make(map[string]uint64), 2
	}
	f.nodes[f.last] = n
	p := f.nodes[parent]
	p.names[name] = f.last
	p.order = append(p.order, name)
	f.entry(f.last, out)
	return fuse.OK
}

func (f *floor) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return f.add(in.NodeId, name, syscall.S_IFDIR|in.Mode, out)
}

func (f *floor) Symlink(_ <-chan struct{}, in *fuse.InHeader, target, name string, out *fuse.EntryOut) fuse.Status {
	st := f.add(in.NodeId, name, syscall.S_IFLNK|0o777, out)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes[out.NodeId].content = []byte(target)
	return st
}

func (f *floor) Readlink(_ <-chan struct{}, in *fuse.InHeader) ([]byte, fuse.Status) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.nodes[in.NodeId].content, fuse.OK
}

func (f *floor) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return f.add(in.NodeId, name, syscall.S_IFREG|in.Mode, &out.EntryOut)
}

func (f *floor) remove(parent uint64, name string) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.nodes[parent].names, name)
	return fuse.OK
}

func (f *floor) Unlink(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return f.remove(in.NodeId, name)
}

func (f *floor) Rmdir(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return f.remove(in.NodeId, name)
}

func (f *floor) Rename(_ <-chan struct{}, in *fuse.RenameIn, oldname, newname string) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	from, to := f.nodes[in.NodeId], f.nodes[in.Newdir]
	to.names[newname] = from.names[oldname]
	delete(from.names, oldname)
	to.order = append(to.order, newname)
	return fuse.OK
}

func (f *floor) Open(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.ENOSYS }

func (f *floor) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.ENOSYS }

func (f *floor) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }
func (f *floor) Release(<-chan struct{}, *fuse.ReleaseIn)         {}
func (f *floor) Fsync(<-chan struct{}, *fuse.FsyncIn) fuse.Status { return fuse.OK }
func (f *floor) Forget(node, nlookup uint64)                      {}

func (f *floor) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	b := f.nodes[in.NodeId].content
	b = b[min(len(b), int(in.Offset)):]
	return fuse.ReadResultData(b[:min(len(b), int(in.Size))]), fuse.OK
}

func (f *floor) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.nodes[in.NodeId]
	end := int(in.Offset) + len(data)
	if end > len(n.content) {
		n.content = append(n.content, make([]byte, end-len(n.content))...)
	}
	copy(n.content[in.Offset:], data)
	n.attr.Size = uint64(len(n.content))
	return uint32(len(data)), fuse.OK
}

func (f *floor) list(in *fuse.ReadIn, add func(e fuse.DirEntry) bool) fuse.Status {
	f.mu.RLock()
	defer f.mu.RUnlock()
	n := f.nodes[in.NodeId]
	for i := int(in.Offset); i < len(n.order); i++ {
		ino, ok := n.names[n.order[i]]
		if ok && !add(fuse.DirEntry{Name: n.order[i], Ino: ino, Mode: f.nodes[ino].attr.Mode, Off: uint64(i) + 1}) {
			break
		}
	}
	return fuse.OK
}

func (f *floor) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return f.list(in, out.AddDirEntry)
}

func (f *floor) ReadDirPlus(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return f.list(in, func(e fuse.DirEntry) bool {
		entry := out.AddDirLookupEntry(e)
		if entry != nil {
			f.entry(e.Ino, entry)
		}
		return entry != nil
	})
}

func (f *floor) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	*out = fuse.StatfsOut{Bsize: 4096, Frsize: 4096, NameLen: 255, Blocks: 1 << 20, Bfree: 1 << 20, Bavail: 1 << 20}
	return fuse.OK
}

func (f *floor) Init(*fuse.Server) {}

// serveMaps mounts a floor at the directory in args, until a signal ends it.
func serveMaps(args []string) error {
	f := &floor{RawFileSystem: fuse.NewDefaultRawFileSystem(), nodes: make(map[uint64]*node), last: fuse.FUSE_ROOT_ID}
	f.nodes[fuse.FUSE_ROOT_ID] = &node{attr: fuse.Attr{Ino: 1, Mode: syscall.S_IFDIR | 0o755, Nlink: 2}, names: make(map[string]uint64)}
	server, err := fuse.NewServer(f, args[0], &fuse.MountOptions{
		AllowOther:               true,
		Options:                  []string{"default_permissions"},
		MaxBackground:            64,
		MaxWrite:                 1 << 20,
		MaxReadAhead:             1 << 20,
		FsName:                   "floor",
		EnableSymlinkCaching:     true,
		ExplicitDataCacheControl: true,
		DirectMount:              true,
		ExtraCapabilities:        fuse.CAP_HANDLE_KILLPRIV_V2 | fuse.CAP_ASYNC_DIO | fuse.CAP_NO_OPENDIR_SUPPORT,
	})
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		_ = server.Unmount()
	}()
	server.Serve()
	return nil
}
