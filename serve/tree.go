package serve

import (
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tus/tusd/v2/pkg/handler"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/dav"
	"github.com/foliofs/folio/internal/volumelink"
	"github.com/foliofs/folio/store"
)

// A tree is a source that is open. When another file takes the place of the volume's file, the tree
// opens that, and closes the old volume once no request uses it.
type tree struct {
	Source
	base   string // of the server
	tus    *handler.UnroutedHandler
	prefix string // of its URLs behind the base: "" or "/NAME"

	uploads openUploads
	joined  sync.Map // the IDs of parts of uploads that are being put together

	mu      sync.Mutex // guards the fields below
	current *opened
	looked  time.Time // when File was looked at
}

// An opened volume is used by a number of requests, and by the tree as long as it is the current
// one.
type opened struct {
	*folio.Volume
	closeVolume func() error
	file        os.FileInfo // of the source's File, nil if there is none
	users       int
	tree        *tree
	dav         *dav.Handler
	serial      uint64 // no other opened volume has it
	store       store.Store
}

var serials atomic.Uint64

func newTree(s Source, base string, several bool) (*tree, error) {
	s.Dir = cleanDir(s.Dir)
	t := &tree{Source: s, base: base}
	if several {
		t.prefix = "/" + s.Name
	}
	var err error
	t.current, err = t.open()
	return t, err
}

func (t *tree) open() (*opened, error) {
	o := &opened{users: 1, tree: t, serial: serials.Add(1)}
	if t.File != "" {
		info, err := os.Stat(t.File)
		if err != nil {
			return nil, err
		}
		o.file = info
	}
	var err error
	if o.Volume, o.closeVolume, err = t.Open(); err != nil {
		return nil, err
	}
	if info, err := o.Stat(t.Dir); err != nil || !info.IsDir() {
		if err == nil {
			err = folio.ErrNotDirectory
		}
		return nil, errors.Join(err, o.closeVolume())
	}
	o.store = volumelink.Store(o.Volume).(store.Store)
	o.dav = dav.NewHandler(o.Volume, &dav.Options{Prefix: t.base + t.prefix, Dir: t.Dir})
	return o, nil
}

// version returns the version of the volume that a transaction would read now, and 0 if that is not
// known. Every change makes another one.
func (o *opened) version() uint64 {
	version, _ := o.store.Version()
	return version
}

// storeNode returns an inode as stores have it.
func storeNode(n *folio.Node) store.Node {
	return store.Node{
		Ino: store.Ino(n.Ino), Mode: n.Mode, Nlink: n.Nlink, UID: n.UID, GID: n.GID, Rdev: n.Rdev, Size: n.Size, Holes: n.Holes,
		Mtime: n.Mtime, Ctime: n.Ctime, Atime: n.Atime,
	}
}

// lookEvery is how often a tree looks whether its file was replaced.
var lookEvery = time.Second // tests set it

var errClosed = errors.New("the server is closed")

// acquire returns the volume for one request, which must release it.
func (t *tree) acquire() (*opened, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current == nil {
		return nil, errClosed
	}
	if err := t.follow(); err != nil {
		return nil, err
	}
	t.current.users++
	return t.current, nil
}

// follow opens the volume again if another file has taken its place. The caller must hold mu.
func (t *tree) follow() error {
	if now := time.Now(); t.File == "" || now.Sub(t.looked) < lookEvery {
		return nil
	} else if info, err := os.Stat(t.File); err != nil {
		return err
	} else if os.SameFile(info, t.current.file) {
		t.looked = now
		return nil
	}
	next, err := t.open()
	if err != nil {
		return err
	}
	old := t.current
	t.current, t.looked = next, time.Now()
	_ = old.leave() // its file is no longer there, which Close says, too
	return nil
}

func (o *opened) release() {
	o.tree.mu.Lock()
	defer o.tree.mu.Unlock()
	_ = o.leave() // nothing is lost: every change was committed before it was answered
}

// leave ends one use. The caller must hold the tree's mu.
func (o *opened) leave() error {
	if o.users--; o.users > 0 {
		return nil
	}
	return o.closeVolume()
}

func (t *tree) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current == nil {
		return nil
	}
	old := t.current
	t.current = nil
	return old.leave()
}

// shown returns the path by which rights name a path in the volume.
func (t *tree) shown(real string) string {
	below := relative(t.Dir, real)
	if below == "." {
		below = ""
	}
	return t.prefix + "/" + below
}

// relative returns a path in a directory as seen from there.
func relative(dir, p string) string {
	if dir == "." {
		return p
	}
	if p = strings.TrimPrefix(strings.TrimPrefix(p, dir), "/"); p == "" {
		return "."
	}
	return p
}
