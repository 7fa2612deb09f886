package disk

import (
	"cmp"
	"slices"
	"sync"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// maxHandles is how many directories of a scan stay open when they are not in use. It is below any
// limit on open files.
const maxHandles = 256

// A handles keeps the directories of a scan open that were used last. Any other directory is opened
// again when it is needed, by its name in the one above and never by a path. So depth has no limit,
// and a rename meanwhile cannot lead elsewhere.
type handles struct {
	mu   sync.Mutex // guards open, clock, and handle and used of each Dir; not held while a directory is opened
	open []*Dir
	last int64 // the latest use
}

// acquire returns the open directory, which the caller must release.
func (d *Dir) acquire() (*dirHandle, error) {
	h := &d.scan.handles
	if handle := h.get(d); handle != nil {
		return handle, nil
	}
	handle, err := d.reopen()
	if err != nil {
		return nil, err
	}
	h.put(d, handle)
	return handle, nil
}

// reopen opens a directory by its name. If that is another one than before, it is ErrChanged.
func (d *Dir) reopen() (*dirHandle, error) {
	up := d.scan.tree.dir
	if d.Up != nil {
		var err error
		if up, err = d.Up.acquire(); err != nil {
			return nil, err
		}
		defer up.release()
	}
	handle, st, err := up.openDir(d.name)
	if err != nil {
		return nil, changed(err)
	}
	if st.id != d.stat.id {
		handle.release()
		return nil, tree.ErrChanged
	}
	return handle, nil
}

// get returns a directory that is open, or nil.
func (h *handles) get(d *Dir) *dirHandle {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d.handle == nil {
		return nil
	}
	h.last++
	d.used = h.last
	return d.handle.retain()
}

// put keeps a directory open. It closes half of all that are open once there are too many.
func (h *handles) put(d *Dir, handle *dirHandle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d.handle != nil { // another goroutine was faster
		return
	}
	h.last++
	d.used, d.handle = h.last, handle.retain()
	if h.open = append(h.open, d); len(h.open) > maxHandles {
		h.closeOldest()
	}
}

func (h *handles) closeOldest() {
	slices.SortFunc(h.open, func(a, b *Dir) int { return cmp.Compare(b.used, a.used) })
	h.close(h.open[maxHandles/2:])
	h.open = h.open[:maxHandles/2]
}

func (h *handles) close(list []*Dir) {
	for i, d := range list {
		d.handle.release()
		d.handle, list[i] = nil, nil
	}
}

// closeAll ends it.
func (h *handles) closeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.close(h.open)
	h.open = nil
}
