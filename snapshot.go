package folio

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/foliofs/folio/internal/store"
)

// A Snapshot is a named state of a volume. A volume keeps it until it is removed. It costs space
// for the changes since then.
type Snapshot struct {
	Name string
	Time time.Time // when it was made
	ID   int64     // IDs increase and are never reused
}

// Errors of snapshots. Errors of the methods below name the snapshot as VOLUME@NAME.
var (
	// ErrNoSnapshot says that a volume has no snapshot of that name, or that it was removed. It
	// matches fs.ErrNotExist.
	ErrNoSnapshot = store.ErrNoSnapshot
	// ErrSnapshotExists says that a volume has a snapshot of that name. It matches fs.ErrExist.
	ErrSnapshotExists = store.ErrSnapshotExists
	// ErrSnapshotName says that no snapshot can have that name. It matches fs.ErrInvalid.
	ErrSnapshotName = store.ErrSnapshotName
)

// snapshotter returns the part of the store that the functions below need.
func (v *Volume) snapshotter(ctx context.Context) (store.Snapshotter, error) {
	if err := v.usable(ctx); err != nil {
		return nil, err
	}
	s := v.store.Features().Snapshotter
	if s == nil {
		return nil, errors.ErrUnsupported
	}
	return s, nil
}

// snapshotPath returns VOLUME@NAME, as errors and the command have it.
func (v *Volume) snapshotPath(name string) string { return v.path + "@" + name }

// snapshotError names a snapshot and the problem with it.
func (v *Volume) snapshotError(op, name string, err error) error {
	if err == nil || isDone(err) {
		return err
	}
	return pathError(op, v.snapshotPath(name), err)
}

// CreateSnapshot gives the state of the volume a name. It takes the same time whatever the size of
// the volume is. From then on, a change keeps the old state: each file, name and chunk of content
// once after each snapshot. A name has 1 to 255 bytes of UTF-8 that can be printed, without '@',
// ':' and '/'.
//
// The error matches ErrSnapshotExists, ErrSnapshotName, ErrReadOnly or ErrBusy, and
// errors.ErrUnsupported if the volume's store has no snapshots.
func (v *Volume) CreateSnapshot(ctx context.Context, name string) error {
	s, err := v.snapshotter(ctx)
	if err == nil {
		err = v.updates.wait(ctx)
	}
	if err == nil {
		_, err = s.Snapshot(ctx, name)
	}
	return v.snapshotError("snapshot", name, err)
}

// Snapshots returns the snapshots of the volume, the oldest first.
func (v *Volume) Snapshots(ctx context.Context) ([]Snapshot, error) {
	s, err := v.snapshotter(ctx)
	if err != nil {
		return nil, v.volumeError("snapshots", err)
	}
	found, err := s.Snapshots(ctx)
	if err != nil {
		return nil, v.volumeError("snapshots", err)
	}
	list := make([]Snapshot, len(found))
	for i, one := range found {
		list[i] = Snapshot{Name: one.Name, Time: time.Unix(0, one.Time), ID: one.ID}
	}
	return list, nil
}

// RemoveSnapshot removes a snapshot, and all that was kept only for it, in small transactions
// between which other writers run. Nobody can read the snapshot any more: volumes that OpenSnapshot
// returned fail with ErrNoSnapshot.
func (v *Volume) RemoveSnapshot(ctx context.Context, name string) error {
	return v.snapshotError("removesnapshot", name, v.removeSnapshots(ctx, []Snapshot{{Name: name}}))
}

// RemoveSnapshots removes several snapshots as RemoveSnapshot does, or none if one of them is not
// there. The caller should pass values that Snapshots has returned: if another process has removed
// one of them and made another one of its name, that is not removed. A Snapshot with the ID 0
// stands for whichever has its name.
func (v *Volume) RemoveSnapshots(ctx context.Context, list ...Snapshot) error {
	err := v.removeSnapshots(ctx, list)
	if errors.Is(err, ErrNoSnapshot) {
		return v.snapshotError("removesnapshot", v.missingSnapshot(ctx, list), err)
	}
	return v.volumeError("removesnapshot", err)
}

func (v *Volume) removeSnapshots(ctx context.Context, list []Snapshot) error {
	s, err := v.snapshotter(ctx)
	if err == nil {
		err = v.updates.wait(ctx)
	}
	if err != nil {
		return err
	}
	stored := make([]store.Snapshot, len(list))
	for i, one := range list {
		stored[i] = store.Snapshot{ID: one.ID, Name: one.Name}
	}
	return s.RemoveSnapshots(ctx, stored...)
}

// missingSnapshot returns the name of the first snapshot of a list that is not there.
func (v *Volume) missingSnapshot(ctx context.Context, list []Snapshot) string {
	there, _ := v.Snapshots(ctx)
	for _, s := range list {
		if !slices.ContainsFunc(there, func(t Snapshot) bool { return t.Name == s.Name && (s.ID == 0 || s.ID == t.ID) }) {
			return s.Name
		}
	}
	return list[0].Name // it was made meanwhile
}

// At returns a transaction that reads the volume as it was when a snapshot was made. It works in
// [Volume.View] and in [Volume.Update]: a program reads a snapshot and the live files, or two
// snapshots, at one moment, and no snapshot is removed in between. The result ends with v.
func (v *Rx) At(snapshot string) (*Rx, error) {
	vol := v.reader.fs
	if vol == nil {
		vol = new(Volume)
	}
	if v.rx == nil {
		return nil, vol.snapshotError("open", snapshot, fs.ErrClosed)
	}
	s, ok := v.rx.(store.PastReader)
	if !ok {
		return nil, vol.snapshotError("open", snapshot, errors.ErrUnsupported)
	}
	rx, err := s.At(snapshot)
	if err != nil {
		return nil, vol.snapshotError("open", snapshot, err)
	}
	past := &Rx{rx: rx}
	past.reader = reader{fs: vol, pin: past, top: store.Root}
	v.pasts = append(v.pasts, past)
	return past, nil
}

// OpenSnapshot returns the volume as it was when a snapshot was made, for reading. The result must
// be closed before v, and its Close leaves v open. When the snapshot is removed, its methods fail
// with ErrNoSnapshot.
func (v *Volume) OpenSnapshot(ctx context.Context, name string) (*Volume, error) {
	s, err := v.snapshotter(ctx)
	if err != nil {
		return nil, v.snapshotError("open", name, err)
	}
	past, err := s.At(ctx, name)
	if err != nil {
		return nil, v.snapshotError("open", name, err)
	}
	at, err := newVolume(past, defaultCacheSize, newUpdates(0))
	if err != nil {
		return nil, v.snapshotError("open", name, err)
	}
	at.path = v.snapshotPath(name)
	return at, nil
}
