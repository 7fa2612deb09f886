package volumetest

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/osfile"
)

// A mountTable is the operating system, except for the directories where a test has mounted another
// system.
type mountTable struct {
	osfile.System
	systems sync.Map // osfile.System by directory
	count   atomic.Int64
}

// mounts is where all volumes of these tests are.
var mounts = &mountTable{System: osfile.OS}

func init() { osfile.OS = mounts }

// mountPoint returns a directory that no other test mounts at.
func mountPoint(t testing.TB) (dir string) {
	t.Helper()
	dir = fmt.Sprintf("/mounted/%d", mounts.count.Add(1))
	t.Cleanup(func() { mounts.systems.Delete(dir) })
	return dir
}

// memoryDir returns a new directory in memory, if the system has one there: syncs of a disk whose
// image lies in it are quick.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "folio")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { must.Do(t, os.RemoveAll(dir)) })
	return dir
}

// mount puts a system at a directory, in place of the one before.
func (m *mountTable) mount(dir string, sys osfile.System) { m.systems.Store(dir, sys) }

func (m *mountTable) of(name string) osfile.System {
	if sys, ok := m.systems.Load(path.Dir(name)); ok {
		return sys.(osfile.System)
	}
	return m.System
}

// Open implements osfile.System.
func (m *mountTable) Open(name string, flag int, perm fs.FileMode) (osfile.Handle, error) {
	return m.of(name).Open(name, flag, perm)
}

// OpenSide implements osfile.System.
func (m *mountTable) OpenSide(db osfile.Handle, suffix string, flag int) (osfile.Handle, error) {
	return m.of(db.Name()).OpenSide(db, suffix, flag)
}

// SideExists implements osfile.System.
func (m *mountTable) SideExists(db osfile.Handle, suffix string) (int64, bool, error) {
	return m.of(db.Name()).SideExists(db, suffix)
}

// Exists implements osfile.System.
func (m *mountTable) Exists(name string) (int64, bool, error) { return m.of(name).Exists(name) }

// Remove implements osfile.System.
func (m *mountTable) Remove(name string) error { return m.of(name).Remove(name) }

// Rename implements osfile.System.
func (m *mountTable) Rename(from, to string) error { return m.of(from).Rename(from, to) }

// SyncDir implements osfile.System.
func (m *mountTable) SyncDir(name string) error { return m.of(name).SyncDir(name) }
