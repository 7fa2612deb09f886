//go:build !linux || 386 || arm || mips || mipsle

package mount

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/foliofs/folio"
)

// A Server serves a mount. There are none on this system.
type Server struct{}

// Mount fails with an error that matches errors.ErrUnsupported: only Linux is supported. Package
// adapter/dav serves a volume to other systems.
func Mount(_ *folio.Volume, dir string, _ *Options) (*Server, error) {
	return nil, fmt.Errorf("mount %s: %w on this system: serve the volume by WebDAV (folio serve)", dir, errors.ErrUnsupported)
}

// MountOverlay fails as Mount does.
func MountOverlay(_ *folio.Overlay, dir string, o *Options) (*Server, error) {
	return Mount(nil, dir, o)
}

// MountFS fails as Mount does.
func MountFS(_ fs.FS, dir string, o *Options) (*Server, error) { return Mount(nil, dir, o) }

// Wait returns at once.
func (*Server) Wait() {}

// Unmount does nothing.
func (*Server) Unmount() error { return nil }
