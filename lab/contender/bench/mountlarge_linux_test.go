package bench

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

const (
	mountPiece  = 1 << 20 // of what is written and read in order
	mountRandom = 4 << 10 // at random
)

// BenchmarkMountLarge writes a file of 1 GiB with one fsync at the end, reads it in order, and
// reads and writes 4 KiB of it at random. One side after the other does everything, because the
// disk may not have the room for all.
func BenchmarkMountLarge(b *testing.B) {
	needMounts(b)
	m := &mountBench{make(map[string]any)}
	reading := func(_ *testing.B, s *mountSide) (any, error) { return readLarge(s.dir) }
	for _, s := range mountSides(writeLarge) {
		s.start(b)
		m.run(b, []*mountSide{s}, []mountCase{
			{
				name: "write", writes: true, fills: true, check: sumLarge,
				ready: func(_ *testing.B, s *mountSide) error { return os.RemoveAll(large(s.dir)) },
				work:  func(b *testing.B, s *mountSide) (any, error) { return nil, writeLarge(b, s.dir) },
			},
			{name: "read-cold", cold: true, work: reading},
			{name: "read", warm: true, work: reading},
			{name: "read-at", warm: true, work: readLargeAt},
			{name: "write-at", writes: true, work: writeLargeAt, check: sumLarge},
		})
		if s.missing == "" {
			must(b, errors.Join(s.stop(), os.RemoveAll(s.home)))
		}
	}
}

func large(dir string) string { return filepath.Join(dir, "large") }

// piece returns a piece of random bytes, always the same ones.
func piece() []byte {
	p := make([]byte, mountPiece)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(p) // it never fails
	return p
}

// writeLarge writes the file. Each piece begins with its number.
func writeLarge(_ *testing.B, dir string) error {
	f, err := os.Create(large(dir))
	if err != nil {
		return err
	}
	p := piece()
	for i := range size(1<<10, 8) {
		binary.BigEndian.PutUint64(p, uint64(i))
		if _, err := f.Write(p); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(f.Sync(), f.Close())
}

// readLarge reads the file in order, and adds up a few bytes of each piece.
func readLarge(dir string) (s sum, err error) {
	f, err := os.Open(large(dir))
	if err != nil {
		return s, err
	}
	p := make([]byte, mountPiece)
	for {
		n, err := f.Read(p)
		if errors.Is(err, io.EOF) {
			return s, f.Close()
		}
		if err != nil {
			return s, errors.Join(err, f.Close())
		}
		s.add(p[:n])
	}
}

// sumLarge is a checksum of the whole file.
func sumLarge(_ *testing.B, s *mountSide) (any, error) {
	f, err := os.Open(large(s.dir))
	if err != nil {
		return nil, err
	}
	h := crc32.NewIEEE()
	_, err = io.Copy(h, f)
	return h.Sum32(), errors.Join(err, f.Close())
}

// offsets calls do with offsets in the file at random, always the same ones.
func offsets(n int, do func(offset int64) error) error {
	r := rand.New(rand.NewPCG(1, 2))
	for range size(n, n/100) {
		if err := do(r.Int64N(int64(size(1<<10, 8))*mountPiece/mountRandom) * mountRandom); err != nil {
			return err
		}
	}
	return nil
}

func readLargeAt(_ *testing.B, s *mountSide) (any, error) {
	f, err := os.Open(large(s.dir))
	if err != nil {
		return nil, err
	}
	var all sum
	p := make([]byte, mountRandom)
	err = offsets(20_000, func(offset int64) error {
		_, err := f.ReadAt(p, offset)
		all.add(p)
		return err
	})
	return all, errors.Join(err, f.Close())
}

func writeLargeAt(_ *testing.B, s *mountSide) (any, error) {
	f, err := os.OpenFile(large(s.dir), os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	p := piece()[:mountRandom]
	err = offsets(5_000, func(offset int64) error {
		binary.BigEndian.PutUint64(p, uint64(offset))
		_, err := f.WriteAt(p, offset)
		return err
	})
	return nil, errors.Join(err, f.Close())
}
