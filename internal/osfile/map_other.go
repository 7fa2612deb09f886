//go:build !unix

package osfile

func (d *description) mapShared(int) ([]byte, error) { return nil, ErrNoMap }

func (d *description) mapWritable(int) ([]byte, error) { return nil, ErrNoMap }

func unmap([]byte) error { return nil }
