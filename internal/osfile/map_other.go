//go:build !unix && !windows

package osfile

func (d *description) mapShared(int64, int) ([]byte, error) { return nil, ErrNoMap }

func (d *description) mapWritable(int64, int) ([]byte, error) { return nil, ErrNoMap }

func unmap([]byte) error { return nil }

// MapsBeyondEnd says that a map can be longer than its file. Here there are none at all.
const MapsBeyondEnd = false
