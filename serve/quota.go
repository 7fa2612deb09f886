package serve

import (
	"context"
)

// Quota returns the free space of the volume, up to its limit or on its disk, to users who may
// write there.
func (s davScope) Quota(ctx context.Context) (available, used int64, ok bool) {
	if s.p.tree.ReadOnly || s.p.access.at(s.p.shown(s.p.within)) != rightWrite {
		return 0, 0, false
	}
	info, err := s.p.vol.store.Info(ctx)
	if err != nil {
		return 0, 0, false
	}
	used = info.Size - info.FreeBytes
	space, known := diskSpace(info.Path)
	available = space + info.FreeBytes
	if most := s.p.vol.store.Features().MaxSize; most > 0 {
		left := max(0, most-used)
		if !known || left < available {
			available = left
		}
		known = true
	}
	return available, used, known
}
