//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/foliofs/folio/internal/store"
)

// The watch learns of changes by other programs, and makes the kernel forget the old state.
//
//	asleep --[a log or a database is written, a request sees a change, 1 s]--> awake
//	awake  --[1 s without a change]--> asleep
//
// While it is awake it looks each millisecond for a while, and then each 5 ms unless a file is
// written. It must look some time after the log was written, because a commit counts only when the
// index of the log says so, and another process may sync the log in between.
const (
	quickLook   = time.Millisecond
	quickFor    = 30 * time.Millisecond
	slowLook    = 5 * time.Millisecond
	slowFor     = time.Second
	asleepLook  = time.Second
	polledLook  = 4 * time.Millisecond // if the system does not tell of writes
	retryAfter  = 2 * time.Millisecond
	retryDirs   = 20 * time.Millisecond
	mostRetries = 200
	// How often a content is not forgotten yet because a request is changing it. It may hold pages.
	mostPostponed = 8
	reapAfter     = 3 * time.Second // the last change of another program; orphans are left to this process meanwhile
)

// watchStats count the work of the watch.
type watchStats struct {
	looks, changes, alls, inodes, entries, syncs atomic.Uint64
}

// wakeWatcher wakes the watcher.
func (m *fileSystem) wakeWatcher() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// observe notes the state of the volume: the watch learns of each change from now on.
func (m *fileSystem) observe() error {
	if m.observer == nil {
		return nil
	}
	return m.observer.Observe()
}

// watch begins to watch.
func (m *fileSystem) watch() {
	if m.observer == nil {
		close(m.finished)
		return
	}
	n, err := newInotifyWatch(m.path)
	if err != nil {
		n = nil // the watch looks often then
	}
	go m.keepWatch(n)
}

// stop ends the watch when the kernel is gone.
func (m *fileSystem) stop() {
	if m.closing.Swap(true) {
		return
	}
	close(m.stopped)
	<-m.finished
	m.background.Wait()
	m.inodes.unpinAll()
}

// keepWatch is the goroutine of the watch. n is nil if the system does not tell of writes.
func (m *fileSystem) keepWatch(n *inotifyWatch) {
	defer close(m.finished)
	defer n.close()
	f := &invalidator{fs: m}
	timer := time.NewTimer(0)
	defer timer.Stop()
	last := time.Now() // when something was seen
	for {
		select {
		case <-m.stopped:
			return
		case <-m.wake:
			last = time.Now()
		case <-n.written():
			last = time.Now()
		case <-timer.C:
		}
		if m.look(f) {
			last = time.Now()
		}
		timer.Reset(m.pause(n, time.Since(last)))
	}
}

// pause returns when to look again.
func (m *fileSystem) pause(n *inotifyWatch, quiet time.Duration) time.Duration {
	switch {
	case quiet < quickFor:
		return quickLook
	case n == nil:
		return polledLook
	}
	n.arm()
	if quiet < slowFor {
		return slowLook
	}
	return asleepLook
}

// look makes the kernel forget state that other programs have changed, and reports whether there
// was any.
func (m *fileSystem) look(f *invalidator) (any bool) {
	m.stats.looks.Add(1)
	for _, ino := range m.inodes.takeStale() {
		f.inode(ino, true)
		any = true
	}
	if !m.unpinning.Load() {
		if list := m.inodes.unpins.take(); len(list) > 0 {
			any = true
			m.unpinning.Store(true)
			m.background.Go(func() { m.unpin(list) })
		}
	}
	if m.observer.Pending() || m.pages.crowded() {
		rx, c, err := m.observer.Observed()
		if err != nil {
			m.failures.add(err)
			return any
		}
		if !c.None() {
			any = true
			f.changed = time.Now()
			m.stats.changes.Add(1)
		}
		err = f.collect(rx, &c)
		rx.End()
		if m.onChange != nil {
			m.onChange(f)
		}
		if err != nil {
			m.failures.add(err)
			f.reset()
			f.everything()
		}
	}
	f.send()
	if !f.changed.IsZero() && time.Since(f.changed) > reapAfter {
		f.changed = time.Time{}
		m.background.Go(func() { _ = m.observer.Reap() }) // else another process does so later
	}
	return any
}

// unpin unpins inodes in one transaction, at whose end those without a name are removed. The
// transaction may wait for other processes that write, which the watch must not.
func (m *fileSystem) unpin(list []store.Ino) {
	defer m.wakeWatcher() // there may be more
	defer m.unpinning.Store(false)
	all := func() {
		for _, ino := range list {
			m.store.Unpin(ino)
		}
	}
	done := false
	err := m.observer.UpdateKnown(bg, func(store.Tx) error {
		done = true
		all()
		return nil
	})
	if err != nil && !done {
		all()
	}
}

// An invalidator collects the inodes and names that the kernel must drop, and queues the
// notifications.
type invalidator struct {
	fs      *fileSystem
	inodes  map[store.Ino]bool // with their content?
	entries []kernelEntry

	changed time.Time // when another program changed something last; zero if nothing is to do for that
}

// inode notes that the kernel must forget an inode, with or without its content.
func (f *invalidator) inode(ino store.Ino, content bool) {
	if f.inodes == nil {
		f.inodes = make(map[store.Ino]bool)
	}
	f.inodes[ino] = f.inodes[ino] || content
}

func (f *invalidator) reset() { f.inodes, f.entries = nil, nil }

// collect notes the inodes and names that the kernel must forget after changes. The transaction
// must have begun after them.
func (f *invalidator) collect(rx store.Rx, c *store.Changes) error {
	m := f.fs
	if c.All {
		m.stats.alls.Add(1)
		return f.all(rx)
	}
	if len(c.Pages) > 0 || m.pages.crowded() {
		if err := m.pages.find(m.observer, rx); err != nil {
			return err
		}
	}
	for _, span := range c.Nodes {
		f.compareNodes(rx, span)
	}
	for _, span := range c.Contents {
		m.inodes.within(span, func(ino store.Ino, _ attrHash) { f.inode(ino, true) })
	}
	for _, pgno := range c.Pages {
		for _, ino := range m.pages.owners(pgno) {
			if _, ok := m.inodes.seen(ino); ok {
				f.inode(ino, true)
			}
		}
	}
	for _, span := range c.Entries {
		f.compareEntries(rx, span)
	}
	return nil
}

// compareNodes notes the inodes of a span of which the kernel knows something else than rx says.
func (f *invalidator) compareNodes(rx store.Rx, span store.InoSpan) {
	f.fs.inodes.within(span, func(ino store.Ino, was attrHash) {
		n, err := rx.Node(ino)
		is := f.fs.inodes.attrHash(&n)
		switch {
		case err == nil && n.Nlink == 0 && store.TypeOf(n.Mode) != store.Dir:
			_ = f.fs.inodes.pin(ino, false) // a program may have it open
			f.inode(ino, false)
		case err != nil || was.known == attrsMixed:
			f.inode(ino, true)
		case was.known == attrsNone:
			if store.TypeOf(n.Mode) != store.Dir || f.fs.inodes.isListed(ino) {
				f.inode(ino, true) // the kernel may have its content
			}
		case was != is:
			f.inode(ino, was.content != is.content)
		}
	})
}

// compareEntries notes the entries of a span which the kernel knows otherwise than rx has them.
func (f *invalidator) compareEntries(rx store.Rx, span store.EntrySpan) {
	for _, known := range f.fs.names.within(span) {
		now, err := rx.Lookup(known.Dir, known.Name)
		if err != nil {
			now.Ino = 0
		}
		if now.Ino != known.ino {
			f.entries = append(f.entries, known)
			f.inode(known.Dir, true)
		}
	}
	if !span.Wide {
		f.fs.inodes.listedWithin(span.Low.Dir, span.High.Dir, func(dir store.Ino) { f.inode(dir, true) })
	}
}

// all compares everything.
func (f *invalidator) all(rx store.Rx) error {
	all := store.InoSpan{First: store.Root, Last: store.MaxIno}
	f.fs.inodes.within(all, func(ino store.Ino, _ attrHash) { f.inode(ino, true) })
	f.compareEntries(rx, store.EntrySpan{High: store.EntryKey{Dir: store.MaxIno + 1}})
	return nil
}

// everything notes all that the kernel was told, if nothing can be compared.
func (f *invalidator) everything() {
	all := store.InoSpan{First: store.Root, Last: store.MaxIno}
	f.fs.inodes.within(all, func(ino store.Ino, _ attrHash) { f.inode(ino, true) })
	f.entries = append(f.entries, f.fs.names.within(store.EntrySpan{High: store.EntryKey{Dir: store.MaxIno + 1}})...)
}

// send makes the kernel forget the noted inodes and names. The names come first.
func (f *invalidator) send() {
	m := f.fs
	if len(f.entries) > 0 {
		m.names.drop(f.entries) // before: the kernel may cache later answers
	}
	for _, e := range f.entries {
		m.notify.add(target{e.Dir, e.Name, true}, false, 0)
	}
	for ino, content := range f.inodes {
		m.notify.add(target{ino: ino}, content, 0)
	}
	f.reset()
}

// forgetContent makes the kernel forget an inode and its content, and learn the size of a file.
func (m *fileSystem) forgetContent(ino store.Ino) fuse.Status {
	if m.inodes.extentOf(ino).content {
		if g, first := m.inodes.growing(ino); first {
			return m.growBy(ino, contentRange{0, math.MaxInt64}, 0, g)
		}
	}
	m.race.begin(ino)
	defer m.race.end(ino)
	return m.kernel.InodeNotify(m.node(ino), 0, 0)
}

// forget makes the kernel forget a target. It is called by the sender.
func (m *fileSystem) forget(t target, content bool, tries int) {
	if t.entry {
		m.stats.entries.Add(1)
		m.kernel.EntryNotify(m.node(t.ino), t.name)
		return
	}
	if content && tries < mostPostponed && m.inodes.extentOf(t.ino).active > 0 {
		time.AfterFunc(quickLook, func() { m.notify.add(t, true, tries+1) })
		return
	}
	m.stats.inodes.Add(1)
	m.inodes.forgotten(t.ino)
	var st fuse.Status
	if content {
		st = m.forgetContent(t.ino)
	} else {
		st = m.kernel.InodeNotify(m.node(t.ino), -1, 0)
	}
	_, known := m.inodes.seen(t.ino)
	switch {
	case !st.Ok() && known && tries < mostRetries: // the answer that names it is on the way
		time.AfterFunc(retryAfter, func() { m.notify.add(t, true, tries+1) })
	case st.Ok() && tries == 0 && content && m.inodes.isListed(t.ino): // an answer with names may be
		time.AfterFunc(retryDirs, func() { m.notify.add(t, true, 1) })
	}
}
