//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
)

// TestSyncsItself changes a volume, and counts how often it is synced by itself: once for all
// changes of some seconds, not at all while there are none, and when the mount ends.
func TestSyncsItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.folio")
	synctest.Test(t, func(t *testing.T) {
		vol, err := folio.Open(path, &folio.Options{Create: true})
		must.Do(t, err)
		m, err := newFileSystem(vol.Store(private.Key{}), new(Options))
		must.Do(t, err)
		m.background.Go(m.keepSynced)
		made := uint32(0)
		change := func() {
			made++
			in := fuse.MkdirIn{InHeader: fuse.InHeader{NodeId: fuse.FUSE_ROOT_ID}, Mode: 0o755}
			if st := m.Mkdir(nil, &in, string(rune('a'+made)), new(fuse.EntryOut)); !st.Ok() {
				t.Fatal(st)
			}
		}
		synced := func(what string, want uint64) {
			t.Helper()
			synctest.Wait()
			if got := m.stats.syncs.Load(); got != want {
				t.Errorf("%s: %d syncs, want %d", what, got, want)
			}
		}
		time.Sleep(time.Minute)
		synced("before any change", 0)
		change()
		time.Sleep(syncAfter - time.Second)
		change()
		synced("soon after a change", 0)
		time.Sleep(time.Second)
		synced("some seconds after it", 1)
		time.Sleep(time.Minute)
		synced("without a change since", 1)
		for range 10 {
			change()
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		synced("after ten seconds of changes", 3)
		change()
		synced("after the last change", 3)
		close(m.finished) // of the watch, which there is none of
		m.stop()
		synced("when the mount has ended", 4)
		must.Do(t, vol.Close())
	})
}
