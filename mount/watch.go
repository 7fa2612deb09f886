//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/store"
)

// The watch learns what other programs have changed, and makes the kernel forget it.
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
	polledLook  = 4 * time.Millisecond // where the system does not tell of writes
	retryAfter  = 2 * time.Millisecond
	retryDirs   = 20 * time.Millisecond
	mostRetries = 200
	reapAfter   = 3 * time.Second // the last change of another program; orphans are left to this process meanwhile
)

// watchStats count what the watch has done.
type watchStats struct {
	looks, changes, alls, inodes, entries atomic.Uint64
}

// wakeWatch wakes the watch.
func (m *fileSystem) wakeWatch() {
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
	n, err := newNotice(m.path)
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
	m.told.unpinAll()
}

// keepWatch is the goroutine of the watch. n is nil if the system does not tell of writes.
func (m *fileSystem) keepWatch(n *notice) {
	defer close(m.finished)
	defer n.close()
	f := &forgetter{fs: m}
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
		timer.Reset(m.pause(f, n, time.Since(last)))
	}
}

// pause returns when to look again.
func (m *fileSystem) pause(f *forgetter, n *notice, quiet time.Duration) time.Duration {
	switch {
	case quiet < quickFor || len(f.again) > 0:
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

// look makes the kernel forget what other programs have changed, and reports whether there was
// anything.
func (m *fileSystem) look(f *forgetter) (any bool) {
	m.stats.looks.Add(1)
	for _, ino := range m.told.takeStale() {
		f.inode(ino, true)
		any = true
	}
	if list := m.told.unpins.take(); len(list) > 0 {
		any = true
		m.unpin(list)
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
		if err != nil {
			m.failures.add(err)
			f.reset()
			f.everything()
		}
	}
	f.send()
	if !f.changed.IsZero() && time.Since(f.changed) > reapAfter {
		f.changed = time.Time{}
		_ = m.observer.Reap() // another process does so later
	}
	return any
}

// unpin unpins inodes in one transaction, at whose end those without a name are removed.
func (m *fileSystem) unpin(list []store.Ino) {
	all := func() {
		for _, ino := range list {
			m.store.Unpin(ino)
		}
	}
	done := false
	err := m.observer.UpdateKnown(func(store.Tx) error {
		done = true
		all()
		return nil
	})
	if err != nil && !done {
		all()
	}
}

// A forgetter collects what the kernel must forget, and sends it.
type forgetter struct {
	fs      *fileSystem
	inodes  map[store.Ino]bool // with their content?
	entries []toldEntry
	again   []retry // that must be sent again

	changed time.Time // when another program changed something last; zero if nothing is to do for that
}

// A retry is an inode that the kernel must forget once more: it did not know it, as the answer that
// names it was on the way; or an answer with names of a directory was on the way.
type retry struct {
	ino   store.Ino
	at    time.Time
	tries int
}

// inode notes that the kernel must forget an inode, with or without its content.
func (f *forgetter) inode(ino store.Ino, content bool) {
	if f.inodes == nil {
		f.inodes = make(map[store.Ino]bool)
	}
	f.inodes[ino] = f.inodes[ino] || content
}

func (f *forgetter) reset() { f.inodes, f.entries = nil, nil }

// collect notes what the kernel must forget after changes. The transaction is one after them.
func (f *forgetter) collect(rx store.Rx, c *store.Changes) error {
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
		m.told.within(span, func(ino store.Ino, _ seal) { f.inode(ino, true) })
	}
	for _, pgno := range c.Pages {
		for _, ino := range m.pages.owners(pgno) {
			if _, ok := m.told.seen(ino); ok {
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
func (f *forgetter) compareNodes(rx store.Rx, span store.InoSpan) {
	f.fs.told.within(span, func(ino store.Ino, was seal) {
		n, err := rx.Node(ino)
		is := f.fs.told.seal(&n)
		switch {
		case err == nil && n.Nlink == 0 && store.TypeOf(n.Mode) != store.Dir:
			_ = f.fs.told.pin(ino, false) // a program may have it open
			f.inode(ino, false)
		case err != nil || was.known == sealMixed:
			f.inode(ino, true)
		case was.known == sealNone:
			if store.TypeOf(n.Mode) != store.Dir || f.fs.told.isListed(ino) {
				f.inode(ino, true) // the kernel may have its content
			}
		case was != is:
			f.inode(ino, was.content != is.content)
		}
	})
}

// compareEntries notes the entries of a span which the kernel knows otherwise than rx has them.
func (f *forgetter) compareEntries(rx store.Rx, span store.EntrySpan) {
	for _, told := range f.fs.names.within(span) {
		e, err := rx.Lookup(told.Dir, told.Name)
		if err != nil {
			e.Ino = 0
		}
		if e.Ino != told.ino {
			f.entries = append(f.entries, told)
			f.inode(told.Dir, true)
		}
	}
	if !span.Wide {
		f.fs.told.listedWithin(span.Low.Dir, span.High.Dir, func(dir store.Ino) { f.inode(dir, true) })
	}
}

// all compares everything.
func (f *forgetter) all(rx store.Rx) error {
	all := store.InoSpan{First: store.Root, Last: store.MaxIno}
	f.fs.told.within(all, func(ino store.Ino, _ seal) { f.inode(ino, true) })
	f.compareEntries(rx, store.EntrySpan{High: store.EntryKey{Dir: store.MaxIno + 1}})
	return nil
}

// everything notes all that the kernel was told, where nothing can be compared.
func (f *forgetter) everything() {
	all := store.InoSpan{First: store.Root, Last: store.MaxIno}
	f.fs.told.within(all, func(ino store.Ino, _ seal) { f.inode(ino, true) })
	f.entries = append(f.entries, f.fs.names.within(store.EntrySpan{High: store.EntryKey{Dir: store.MaxIno + 1}})...)
}

// send makes the kernel forget what was noted.
func (f *forgetter) send() {
	for _, e := range f.entries {
		f.fs.stats.entries.Add(1)
		f.fs.kernel.EntryNotify(f.fs.node(e.Dir), e.Name)
	}
	if len(f.entries) > 0 {
		f.fs.names.drop(f.entries)
	}
	for ino, content := range f.inodes {
		f.forget(ino, content, 0)
	}
	f.reset()
	now := time.Now()
	waiting := f.again
	f.again = nil
	for _, r := range waiting {
		if now.Before(r.at) {
			f.again = append(f.again, r)
		} else {
			f.forget(r.ino, true, r.tries)
		}
	}
}

// forget makes the kernel forget one inode.
func (f *forgetter) forget(ino store.Ino, content bool, tries int) {
	m := f.fs
	m.stats.inodes.Add(1)
	m.told.forgotten(ino)
	off := int64(-1)
	if content {
		off = 0
	}
	if content {
		m.drops.begin(ino)
	}
	st := m.kernel.InodeNotify(m.node(ino), off, 0)
	if content {
		m.drops.end(ino)
	}
	_, known := m.told.seen(ino)
	switch {
	case !st.Ok() && known && tries < mostRetries:
		f.again = append(f.again, retry{ino, time.Now().Add(retryAfter), tries + 1})
	case st.Ok() && tries == 0 && content && m.told.isListed(ino):
		f.again = append(f.again, retry{ino, time.Now().Add(retryDirs), 1})
	}
}
