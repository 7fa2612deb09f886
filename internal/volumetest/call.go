package volumetest

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/foliofs/folio"
)

// A Call is one operation on either side. It returns a description of the result.
type Call struct {
	Name string
	Do   func(s *Side) string
}

// RandomName returns a path of few different ones.
func RandomName(r *rand.Rand) string {
	parts := make([]string, 1+r.IntN(3))
	for i := range parts {
		parts[i] = string(rune('a' + r.IntN(4)))
	}
	return strings.Join(parts, "/")
}

func RandomData(r *rand.Rand) []byte {
	size := r.IntN(100)
	switch r.IntN(8) {
	case 0:
		size = r.IntN(200_000)
	case 1:
		size = 65536*r.IntN(3) + r.IntN(3)
	}
	p := make([]byte, size)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

// randomOffset is often near the edge of a chunk.
func randomOffset(r *rand.Rand) int64 {
	if r.IntN(3) == 0 {
		return max(0, int64(65536*r.IntN(4)+r.IntN(3)-1))
	}
	return r.Int64N(200)
}

// RandomCall returns one call with arguments that are the same on both sides.
func RandomCall(r *rand.Rand) Call {
	name, other, data := RandomName(r), RandomName(r), RandomData(r)
	simple := func(op string, do func(s *Side) error) Call {
		return Call{fmt.Sprintf("%s %q %q %d", op, name, other, len(data)), func(s *Side) string { return outcome(do(s)) }}
	}
	switch r.IntN(18) {
	case 0:
		return simple("Mkdir", func(s *Side) error { return s.Mkdir(name, 0o750) })
	case 1:
		return simple("MkdirAll", func(s *Side) error { return s.MkdirAll(name, 0o755) })
	case 2, 3:
		return simple("Remove", func(s *Side) error { return s.Remove(name) })
	case 4:
		return simple("RemoveAll", func(s *Side) error { return s.RemoveAll(name) })
	case 5, 6:
		return simple("Rename", func(s *Side) error { return s.Rename(name, other) })
	case 7:
		return simple("Link", func(s *Side) error { return s.Link(name, other) })
	case 8:
		return simple("Symlink", func(s *Side) error { return s.Symlink(name, other) })
	case 9:
		return simple("Chmod", func(s *Side) error { return s.Chmod(name, fs.FileMode(len(data)%0o777)) })
	case 10:
		return simple("undone Update", func(s *Side) error { return s.undone(name, data) })
	case 11:
		return simple("Update", func(s *Side) error { return s.both(name, other, data) })
	case 12:
		return simple("SetXattr", func(s *Side) error { return s.SetXattr(name, "user."+name[:1], data[:min(len(data), 9000)]) })
	case 13, 14:
		return simple("WriteFile", func(s *Side) error { return s.WriteFile(name, data, 0o644) })
	}
	return randomFileCall(r, name, data)
}

// randomFileCall returns a call on an open file, or opens one.
func randomFileCall(r *rand.Rand, name string, data []byte) Call {
	i, off := r.IntN(4), randomOffset(r)
	on := func(op string, fn func(f *folio.File) string) Call {
		return Call{fmt.Sprintf("file %d: %s %d at %d", i, op, len(data), off), func(s *Side) string { return s.onFile(i, fn) }}
	}
	switch r.IntN(6) {
	case 0:
		mode := os.O_RDWR | [...]int{0, os.O_CREATE, os.O_CREATE | os.O_TRUNC, os.O_APPEND}[r.IntN(4)]
		return Call{fmt.Sprintf("file %d = OpenFile %q %#x", i, name, mode), func(s *Side) string { return outcome(s.reopen(i, name, mode)) }}
	case 1:
		return on("Write", func(f *folio.File) string { n, err := f.Write(data); return outcome(err, n) })
	case 2:
		return on("WriteAt", func(f *folio.File) string { n, err := f.WriteAt(data, off); return outcome(err, n) })
	case 3:
		return on("Truncate", func(f *folio.File) string { return outcome(f.Truncate(off)) })
	}
	return on("ReadAt", func(f *folio.File) string { return readFrom(f, len(data), off) })
}
