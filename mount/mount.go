//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/mount/internal/watchdog"
)

// A Server serves a mount until that is unmounted.
type Server struct {
	conn *fuse.Server
	fs   *fileSystem
	done chan struct{}

	unwatch func() // stops the watchdog
}

// Mount mounts a volume at a directory of the system, and serves it until Server.Unmount is called,
// or until another program unmounts it. The volume must stay open until then.
//
// Mount starts this program once more, under the name mount-watchdog. That process ends the mount
// if this one is killed, and runs neither main nor the init functions of packages that use this
// one.
func Mount(vol *folio.Volume, dir string, o *Options) (*Server, error) {
	return mountStore(vol.Store(private.Key{}), dir, o)
}

// MountOverlay mounts an overlay as Mount does a volume. The overlay must stay open until the mount
// ends.
func MountOverlay(over *folio.Overlay, dir string, o *Options) (*Server, error) {
	return Mount(over.Volume(private.Key{}), dir, o)
}

// mountStore mounts the volume in a store. The kernel keeps its answers if the store is a
// store.Observer, and otherwise asks each time.
func mountStore(s store.Store, dir string, o *Options) (*Server, error) {
	v, err := startServer(s, dir, o)
	if err != nil {
		return nil, fmt.Errorf("mount %s: %w", dir, err)
	}
	return v, nil
}

func startServer(s store.Store, dir string, o *Options) (*Server, error) {
	if o == nil {
		o = new(Options)
	}
	m, err := newFileSystem(s, o)
	if err != nil {
		return nil, err
	}
	name := o.Name
	if name == "" {
		name = m.path
	}
	options := append([]string{"default_permissions"}, o.Options...)
	if o.ReadOnly {
		options = append(options, "ro")
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, syscall.ENOTDIR
	}
	if m.mounted, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if err := m.observe(); err != nil {
		return nil, err
	}
	c, err := connect(newSnapshotMount(m, o), dir, &fuse.MountOptions{
		AllowOther:               o.AllowOther,
		Options:                  options,
		MaxBackground:            64,
		MaxWrite:                 maxWrite,
		MaxReadAhead:             maxWrite,
		FsName:                   name,
		Name:                     "folio",
		EnableSymlinkCaching:     true,
		ExplicitDataCacheControl: true,
		ExtraCapabilities:        fuse.CAP_HANDLE_KILLPRIV_V2 | fuse.CAP_ASYNC_DIO | fuse.CAP_NO_OPENDIR_SUPPORT | fuse.CAP_DIRECT_IO_ALLOW_MMAP,
		Logger:                   o.Logger,
		Debug:                    o.Debug,
	})
	if err != nil {
		return nil, err
	}
	v := &Server{conn: c, fs: m, done: make(chan struct{})}
	m.kernel = c
	v.unwatch = m.guard(dir)
	m.watch()
	m.background.Go(m.keepSynced)
	go v.serve()
	if !o.Daemon {
		// The Go runtime asks of a file that it opens whether it can be polled, and lets no other
		// goroutine run meanwhile. WaitMount opens a file first, so that the kernel never asks
		// again.
		if err := c.WaitMount(); err != nil {
			return nil, errors.Join(err, v.Unmount())
		}
	}
	return v, nil
}

// guard starts the watchdog of a mount at a directory, and returns what stops it. The mount works
// without one.
func (m *fileSystem) guard(dir string) (stop func()) {
	stop, err := watchdog.Start(dir)
	if err != nil {
		m.failures.logger.Printf("mount %s: %v: if this process is killed, programs that use the mount may hang", dir, err)
		return func() {}
	}
	return stop
}

// maxWrite is how many bytes a request reads or writes at most.
const maxWrite = 1 << 20

func (v *Server) serve() {
	v.conn.Serve()
	v.unwatch()
	v.fs.stop()
	close(v.done)
}

// Wait returns when the volume is no longer mounted.
func (v *Server) Wait() { <-v.done }

// Unmount unmounts the volume. It fails, and the volume stays mounted, if a program has a file or a
// directory of it open.
func (v *Server) Unmount() error {
	err := v.conn.Unmount()
	if err == nil {
		v.Wait()
	}
	return err
}

// rootOf returns the inode of a directory of a volume.
func rootOf(s store.Store, dir string) (store.Ino, error) {
	rx, err := s.Begin(context.Background())
	if err != nil {
		return 0, err
	}
	defer rx.End()
	ino := store.Root
	n, err := rx.Node(ino)
	switch {
	case err != nil:
		return 0, err
	case store.TypeOf(n.Mode) != store.Dir:
		return 0, store.Damaged("its root is no directory")
	}
	for _, name := range splitPath(dir) {
		e, err := rx.Lookup(ino, name)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", dir, err)
		}
		if e.Type != store.Dir {
			return 0, fmt.Errorf("%s: %w", dir, folio.ErrNotDirectory)
		}
		ino = e.Ino
	}
	return ino, nil
}

// splitPath returns the names of a path.
func splitPath(p string) (names []string) {
	for p = filepath.Clean("/" + p); p != "/"; {
		var name string
		p, name = filepath.Split(p)
		p = filepath.Clean(p)
		names = append([]string{name}, names...)
	}
	return names
}
