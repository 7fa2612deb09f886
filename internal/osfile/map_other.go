//go:build !unix && !windows

package osfile

func (d *description) mapShared(int64, int) ([]byte, error) { return nil, ErrNoMap }

func (d *description) mapWritable(int64, int) ([]byte, error) { return nil, ErrNoMap }

func unmap([]byte) error { return nil }

// SharesMemory says whether processes can share memory by MapWords of a file.
const SharesMemory = false

// MapsBeyondEnd says that a map can be longer than its file. Here there are none at all.
const MapsBeyondEnd = false
