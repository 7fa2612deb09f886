package osfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
)

// page is a multiple of every system's memory page.
const page = 1 << 16

// mapped makes a file of some pages full of ones, and maps n bytes of it. Where files cannot be
// mapped, it skips.
func mapped(t testing.TB, pages int, n int64) (*osfile.File, *osfile.Mapping) {
	t.Helper()
	f, err := osfile.Open(filepath.Join(t.TempDir(), "x"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, err := f.WriteAt(bytes.Repeat([]byte{1}, pages*page), 0); err != nil {
		t.Fatal(err)
	}
	m, err := f.Map(n)
	if errors.Is(err, osfile.ErrNoMap) {
		t.Skip("no maps on this system")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Unmap() })
	return f, m
}

// byteAt reads as every user of a mapping must: guarded.
func byteAt(m *osfile.Mapping, off int64) (b byte, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	return m.Bytes()[off], nil
}

func TestMapSeesGrowth(t *testing.T) {
	t.Parallel()
	f, m := mapped(t, 1, 1<<30)
	if len(m.Bytes()) != 1<<30 {
		t.Fatalf("%d bytes", len(m.Bytes()))
	}
	if _, err := byteAt(m, 9*page); !errors.Is(err, osfile.ErrFault) {
		t.Errorf("past the end: %v", err)
	}
	if _, err := f.WriteAt([]byte{42}, 9*page); err != nil {
		t.Fatal(err)
	}
	for off, want := range map[int64]byte{0: 1, page: 0, 9 * page: 42} {
		if b, err := byteAt(m, off); b != want || err != nil {
			t.Errorf("at %d: %d, %v", off, b, err)
		}
	}
}

// A file that shrinks under its map gives an error that says so, for every way to read memory.
func TestMapOfShrunkenFile(t *testing.T) {
	t.Parallel()
	f, m := mapped(t, 4, 4*page)
	if err := f.Truncate(page + 10); err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, page)
	for name, read := range map[string]func(p []byte){
		"load":      func(p []byte) { dst[0] = p[0] },
		"binary":    func(p []byte) { dst[0] = byte(binary.BigEndian.Uint64(p)) },
		"copy":      func(p []byte) { copy(dst, p) },
		"append":    func(p []byte) { dst = append(dst[:0], p...) },
		"compare":   func(p []byte) { dst[0] = byte(bytes.Compare(p, dst)) },
		"equal":     func(p []byte) { bytes.Equal(p, dst) },
		"indexbyte": func(p []byte) { dst[0] = byte(bytes.IndexByte(p, 7)) },
		"string":    func(p []byte) { dst[0] = byte(strings.IndexByte(string(p), 7)) },
	} {
		err := guard(func() { read(m.Bytes()[2*page : 3*page]) })
		var fault *osfile.FaultError
		if !errors.As(err, &fault) || !errors.Is(err, osfile.ErrFault) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if fault.Name != f.Name() || fault.Offset < 2*page || fault.Offset >= 3*page || fault.Size != page+10 {
			t.Errorf("%s: %+v", name, fault)
		}
		if msg := err.Error(); !strings.Contains(msg, "shrank to 65546 bytes") || !strings.Contains(msg, f.Name()) {
			t.Errorf("%s: message %q", name, msg)
		}
	}
	if b, err := byteAt(m, page+11); b != 0 || err != nil {
		t.Errorf("behind the end in the last page: %d, %v", b, err)
	}
}

func guard(f func()) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	f()
	return nil
}

func TestMapOutlivesClose(t *testing.T) {
	t.Parallel()
	f, m := mapped(t, 1, 2*page)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := byteAt(m, 5); b != 1 || err != nil {
		t.Errorf("read %d, %v", b, err)
	}
	_, err := byteAt(m, page)
	if !errors.Is(err, osfile.ErrFault) || !strings.Contains(err.Error(), "could not be read") {
		t.Errorf("past the end: %v", err)
	}
}

func TestMapRefuses(t *testing.T) {
	t.Parallel()
	f, m := mapped(t, 1, page)
	if err := m.Unmap(); err != nil {
		t.Fatal(err)
	}
	wantPathError(t, m.Unmap(), "munmap", f.Name(), fs.ErrClosed)
	for _, n := range []int64{-1, 0, 1<<63 - 1} {
		_, err := f.Map(n)
		wantPathError(t, err, "mmap", f.Name(), osfile.ErrNoMap)
	}
}

// Faults in many mappings at once each find their own.
func TestMapConcurrentFaults(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 8 {
		f, m := mapped(t, 1, 2*page)
		wg.Go(func() {
			for range 50 {
				var fault *osfile.FaultError
				_, err := byteAt(m, page+page/2)
				if !errors.As(err, &fault) || fault.Name != f.Name() {
					t.Errorf("fault in %s: %v", f.Name(), err)
					return
				}
			}
		})
	}
	wg.Wait()
}
