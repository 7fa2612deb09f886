package serve

import (
	"context"
)

// Quota returns the room in the volume, which is told to those who may write there: up to its
// limit, or on the disk below it.
func (s davScope) Quota(ctx context.Context) (available, used int64, ok bool) {
	if s.p.tree.ReadOnly || s.p.access.at(s.p.shown(s.p.within)) != rightWrite {
		return 0, 0, false
	}
	info, err := s.p.vol.store.Info(ctx)
	if err != nil {
		return 0, 0, false
	}
	used = info.Size - info.FreeBytes
	room, known := diskRoom(info.Path)
	available = room + info.FreeBytes
	if most := s.p.vol.store.Features().MaxSize; most > 0 {
		left := max(0, most-used)
		if !known || left < available {
			available = left
		}
		known = true
	}
	return available, used, known
}
