//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import "time"

// syncAfter is how long a change may wait for its sync, unless a program asks for one. It is that
// of ext4.
const syncAfter = 5 * time.Second

// syncLater notes that the volume was changed. After syncAfter it is synced, with all changes until
// then. The kernel does not pass on sync(2) and syncfs(2) to the daemon of a mount.
func (m *fileSystem) syncLater() {
	if m.unsynced.Load() || m.unsynced.Swap(true) {
		return
	}
	select {
	case m.syncing <- struct{}{}:
	default: // the mount has ended
	}
}

// keepSynced syncs the volume some time after it was changed, and when the mount ends.
func (m *fileSystem) keepSynced() {
	for {
		select {
		case <-m.stopped:
			m.syncIfChanged() // a request may have come after the one before it was seen here
			return
		case <-m.syncing:
		}
		select {
		case <-m.stopped:
		case <-time.After(syncAfter):
		}
		m.syncIfChanged()
	}
}

func (m *fileSystem) syncIfChanged() {
	if m.unsynced.Swap(false) {
		m.stats.syncs.Add(1)
		m.sync() // an error is in the log, and ends writing
	}
}
