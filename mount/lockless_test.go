//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// A lockless node shows a file of another directory, and refuses locks of byte ranges, as some
// network file systems do.
type lockless struct{ *gofs.LoopbackNode }

// WrapChild implements fs.NodeWrapChilder.
func (*lockless) WrapChild(_ context.Context, ops gofs.InodeEmbedder) gofs.InodeEmbedder {
	return &lockless{ops.(*gofs.LoopbackNode)}
}

// Getlk implements fs.NodeGetlker.
func (*lockless) Getlk(context.Context, gofs.FileHandle, uint64, *fuse.FileLock, uint32, *fuse.FileLock) syscall.Errno {
	return syscall.ENOLCK
}

// Setlk implements fs.NodeSetlker.
func (*lockless) Setlk(context.Context, gofs.FileHandle, uint64, *fuse.FileLock, uint32) syscall.Errno {
	return syscall.ENOLCK
}

// Setlkw implements fs.NodeSetlkwer.
func (*lockless) Setlkw(context.Context, gofs.FileHandle, uint64, *fuse.FileLock, uint32) syscall.Errno {
	return syscall.ENOLCK
}

// TestNoLocks mounts a volume of a file system that refuses locks: that is an error in one line,
// which says so.
func TestNoLocks(t *testing.T) {
	needFUSE(t)
	below, dir := t.TempDir(), t.TempDir()
	vol, err := folio.Open(filepath.Join(below, "v.folio"), &folio.Options{Create: true})
	must.Do(t, err)
	must.Do(t, vol.Close())
	root := &gofs.LoopbackRoot{Path: below}
	server, err := gofs.Mount(dir, &lockless{&gofs.LoopbackNode{RootData: root}}, &gofs.Options{
		MountOptions: fuse.MountOptions{EnableLocks: true, DirectMount: true},
	})
	must.Do(t, err)
	defer func() { must.Do(t, server.Unmount()) }()
	d := &daemon{t: t, volume: filepath.Join(dir, "v.folio"), dir: t.TempDir()}
	if err := d.tryStart(); err == nil {
		d.stop()
		t.Fatal("it was mounted")
	}
	if said := d.said.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, "no locks") {
		t.Errorf("the daemon said %q", said)
	}
}
