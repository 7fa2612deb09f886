package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tus/tusd/v2/pkg/handler"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/dav"
	internals "github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
)

// A tree is a source that is open. When another file takes the place of the volume's file, or
// another volume is written over it, the tree closes the old volume and then opens the new one: as
// long as the old one is open, its log is next to the new file, and belongs to the old one.
type tree struct {
	Source
	base   string // of the server
	tus    *handler.UnroutedHandler
	prefix string // of its URLs behind the base: "" or "/NAME"

	notices  *slog.Logger
	away     atomic.Bool     // the server of the volume cannot be reached
	ending   context.Context // ends when the tree is closed
	end      context.CancelFunc
	reaching sync.WaitGroup // a goroutine that waits for the server

	uploads openUploads
	joined  sync.Map // the IDs of parts of uploads that are being put together

	mu      sync.Mutex    // guards the fields below
	ended   bool          // close was called
	current *opened       // nil while there is none that can be used
	looked  time.Time     // when File was looked at
	closing chan struct{} // of the old volume, closed when it is; nil at first
	found   os.FileInfo   // File as it was when it was looked at, while nothing is open
	failed  error         // why it could not be opened
}

// An opened volume is used by a number of requests, and by the tree as long as it is the current
// one.
type opened struct {
	*folio.Volume
	closeVolume func() error
	file        os.FileInfo // of the source's File, nil if there is none
	users       int
	gone        atomic.Bool // another volume has taken its place: it is closed, or about to be
	tree        *tree
	dav         *dav.Handler
	serial      uint64 // no other opened volume has it
	store       store.Store
	remote      bool  // on a server
	whole       int64 // how many bytes a file has at most that is read in the view that finds it
}

var serials atomic.Uint64

// newTree opens a source. If its directory is reached through a symbolic link, the tree stays where
// the link leads now, so that a client who may write cannot move the tree elsewhere by changing the
// link.
func newTree(s Source, base string, several bool, notices *slog.Logger) (*tree, error) {
	s.Dir = cleanDir(s.Dir)
	t := &tree{Source: s, base: base, notices: notices}
	t.ending, t.end = context.WithCancel(context.Background())
	if several {
		t.prefix = "/" + s.Name
	}
	var err error
	if t.current, err = t.open(); err != nil {
		return t, err
	}
	if t.Dir, err = realDir(t.current.Volume, t.Dir); err != nil {
		return t, errors.Join(err, t.close())
	}
	t.current.dav = t.newDav(t.current.Volume) // from now on, a symbolic link to the directory is not followed again
	return t, nil
}

func (t *tree) newDav(vol *folio.Volume) *dav.Handler {
	return dav.NewHandler(vol, &dav.Options{Prefix: t.base + t.prefix, Dir: t.Dir})
}

// open opens the volume, and describes its file before that: if another file takes its place in
// between, the next look finds a difference and opens it again.
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
	o.store, o.whole = o.Volume.Store(internals.Key{}), smallFile
	if o.store.Features().Walker != nil { // another view would take several trips to a server
		o.remote, o.whole = true, wholeFile
	}
	o.dav = t.newDav(o.Volume)
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

// watchEvery is how often a tree looks when there are no requests.
const watchEvery = time.Second

// closePatience is how long a request waits for an old volume to be closed.
const closePatience = 2 * time.Second

var (
	errClosed   = errors.New("the server is closed")
	errReplaced = errors.New("another file has taken the place of the volume")
)

// acquire returns the volume for one request, which must release it.
func (t *tree) acquire() (*opened, error) {
	if t.away.Load() {
		return nil, errAway
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.follow(); err != nil {
		return nil, err
	}
	t.current.users++
	return t.current, nil
}

// follow sees to it that the volume that the file holds now is open. The caller must hold mu, which
// is given back for a while if an old volume must be closed.
func (t *tree) follow() error {
	if t.current != nil && (t.File == "" || time.Since(t.looked) < lookEvery) {
		return nil
	}
	if t.ended {
		return errClosed
	}
	info, err := os.Stat(t.File)
	if err != nil {
		return err
	}
	if t.current != nil {
		now := time.Now()
		if os.SameFile(info, t.current.file) && !t.current.replaced() {
			t.looked = now
			return nil
		}
		t.drop(info)
	}
	if err := t.awaitClosed(); err != nil || t.current != nil {
		return err
	}
	return t.reopen(info)
}

// watch follows the file without requests, too, until ctx is done: other programs with the new
// file open, or want to open it, wait for the old volume to be closed.
func (t *tree) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if o, err := t.acquire(); err == nil {
				o.release()
			}
		case <-ctx.Done():
			return
		}
	}
}

// replaced reports whether another volume was written over the file.
func (o *opened) replaced() bool {
	s, ok := o.store.(interface{ Replaced() bool })
	return ok && s.Replaced()
}

// drop closes a volume whose file was replaced, though requests may still use it: they fail. The
// caller must hold mu.
func (t *tree) drop(info os.FileInfo) {
	old, done := t.current, make(chan struct{})
	t.current, t.closing, t.found, t.failed, t.looked = nil, done, nil, nil, time.Now()
	if os.SameFile(info, old.file) {
		t.found = info // the program that writes over it may not be done
	}
	old.gone.Store(true)
	go func() {
		defer close(done)
		_ = old.closeVolume() // its file is no longer there, which Close says, too
	}()
}

// awaitClosed waits until the old volume is closed, but not for long. The caller must hold mu,
// which is given back meanwhile.
func (t *tree) awaitClosed() error {
	if t.closing == nil {
		return nil
	}
	done := t.closing
	t.mu.Unlock()
	defer t.mu.Lock()
	select {
	case <-done:
		return nil
	case <-time.After(closePatience):
		return fmt.Errorf("%w, and a request still uses the old one", errReplaced)
	}
}

// reopen opens the volume in a file that was found. One that is being written over is opened when
// it has not changed from one look to the next. The caller must hold mu.
func (t *tree) reopen(info os.FileInfo) error {
	if t.ended {
		return errClosed
	}
	now := time.Now()
	if t.failed != nil || t.found != nil {
		if now.Sub(t.looked) < lookEvery {
			return cmp.Or(t.failed, errReplaced)
		}
	}
	t.looked = now
	if old := t.found; old != nil && !sameState(old, info) {
		t.found = info
		return fmt.Errorf("%w, and is still being written", errReplaced)
	}
	next, err := t.open()
	if err != nil {
		t.failed = fmt.Errorf("%w: %w", errReplaced, err)
		return t.failed
	}
	t.current, t.found, t.failed = next, nil, nil
	return nil
}

// sameState reports whether a file is as it was.
func sameState(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func (o *opened) release() {
	o.tree.mu.Lock()
	defer o.tree.mu.Unlock()
	_ = o.leave() // nothing is lost: every change was committed before it was answered
}

// leave ends one use. The caller must hold the tree's mu.
func (o *opened) leave() error {
	if o.users--; o.users > 0 || o.gone.Load() {
		return nil
	}
	return o.closeVolume()
}

// close ends the tree: first the goroutine that waits for a server, then the volume, once no
// request uses it.
func (t *tree) close() error {
	t.end()
	t.reaching.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	old := t.current
	t.current = nil
	if err := t.awaitClosed(); err != nil || old == nil {
		return err
	}
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

// cleanDir returns a directory of a volume as trees name it.
func cleanDir(dir string) string {
	if dir = path.Clean("/" + dir)[1:]; dir == "" {
		return "."
	}
	return dir
}

// openUploads are the uploads of a tree that are not complete, by whom they belong to. It is a
// superset: it is compared with the volume when someone has too many, and after a start it is read
// from there.
type openUploads struct {
	mu   sync.Mutex // guards ids; it is locked within a transaction
	ids  map[string]map[string]bool
	read bool
}
