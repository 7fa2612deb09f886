package volumetest

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/race"
	"github.com/foliofs/folio/internal/random"
)

// oldTime is the time of modification of files of a base.
var oldTime = time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)

// overlaid returns an overlay, and the volume that keeps its changes.
func overlaid(t testing.TB, base fs.FS, o *folio.OverlayOptions) (*folio.Overlay, *folio.Volume) {
	t.Helper()
	upper := Empty(t)
	return overAgain(t, base, upper, o), upper
}

// overAgain opens an overlay whose volume has changes.
func overAgain(t testing.TB, base fs.FS, upper *folio.Volume, o *folio.OverlayOptions) *folio.Overlay {
	t.Helper()
	v, err := folio.NewOverlay(base, upper, o)
	must.Do(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// TestOverlayOneByte changes one byte of a large file of a base. That must not copy the file.
func TestOverlayOneByte(t *testing.T) {
	t.Parallel()
	const size = 50 << 20
	content := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	base := fstest.MapFS{"large": {Data: content, ModTime: oldTime, Mode: 0o644}}
	v, upper := overlaid(t, base, nil)
	f, err := v.OpenFile("large", os.O_RDWR, 0)
	must.Do(t, err)
	defer f.Close()
	must.Do(t, must.Second(f.WriteAt([]byte("X"), size/2)))
	want := bytes.Clone(content)
	want[size/2] = 'X'
	for _, o := range []*folio.Overlay{v, overAgain(t, base, upper, nil)} {
		if got, err := o.ReadFile("large"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	if got := stored(t, upper, "large"); got != 64<<10 {
		t.Errorf("%d bytes are stored", got)
	}
	WantClean(t, upper)
}

// stored returns how many bytes of a file a volume keeps itself.
func stored(t *testing.T, v *folio.Volume, name string) int64 {
	t.Helper()
	info, err := v.Lstat(name)
	must.Do(t, err)
	n := info.Sys().(*folio.Node)
	return n.Size - n.Holes
}

// TestOverlayContent changes parts of the content of a file of a base at random, and compares it
// with a slice of bytes.
func TestOverlayContent(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	r := random.New(t)
	for round := range InQuick(5, 20) {
		want := random.Bytes(r, r.IntN(6*chunk))
		base := fstest.MapFS{"f": {Data: bytes.Clone(want), ModTime: oldTime, Mode: 0o644}}
		v, upper := overlaid(t, base, &folio.OverlayOptions{CopyWholeFile: round%5 == 4})
		for range 30 {
			want = changeContent(t, r, v, want)
			if r.IntN(5) == 0 {
				v = overAgain(t, base, upper, nil)
			}
			if got, err := v.ReadFile("f"); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes, %v; want %d; they differ at %d", len(got), err, len(want), firstDifference(got, want))
			}
		}
		WantClean(t, upper)
	}
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// chunk is how many bytes a row of a volume holds.
const chunk = 64 << 10

// changeContent changes the file f, and returns what its content must be.
func changeContent(t *testing.T, r *rand.Rand, v *folio.Overlay, want []byte) []byte {
	t.Helper()
	off := r.IntN(7 * chunk)
	if r.IntN(3) == 0 {
		off = off / chunk * chunk
	}
	if r.IntN(4) == 0 {
		must.Do(t, shorten(v, "f", int64(off)))
		return append(want, make([]byte, max(0, off-len(want)))...)[:off]
	}
	p := random.Bytes(r, 1+r.IntN(2*chunk))
	if r.IntN(3) == 0 {
		p = p[:1]
	}
	f, err := v.OpenFile("f", os.O_RDWR, 0)
	must.Do(t, err)
	defer f.Close()
	must.Do(t, must.Second(f.WriteAt(p, int64(off))))
	want = append(want, make([]byte, max(0, off+len(p)-len(want)))...)
	copy(want[off:], p)
	return want
}

func shorten(v *folio.Overlay, name string, size int64) error {
	f, err := v.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

// TestOverlayRefused makes overlays that cannot be.
func TestOverlayRefused(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	must.Do(t, v.WriteFile("f", nil, 0o644))
	if _, err := folio.NewOverlay(v.FS(), v, nil); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("over itself: %v", err)
	}
	if _, err := folio.NewOverlay(fstest.MapFS{".": {}}, v, nil); !errors.Is(err, folio.ErrNotDirectory) {
		t.Errorf("over a file: %v", err)
	}
	over, _ := overlaid(t, fstest.MapFS{"link": {Data: []byte("../out"), Mode: fs.ModeSymlink}}, nil)
	if _, err := over.ReadFile("link"); !errors.Is(err, folio.ErrEscapes) {
		t.Errorf("out of the base: %v", err)
	}
	over = overAgain(t, fstest.MapFS{}, Memory(t, &folio.Options{BusyTimeout: -1}), nil)
	err := over.Update(t.Context(), func(*folio.Tx) error { return over.Discard(t.Context()) })
	if !errors.Is(err, folio.ErrBusy) {
		t.Errorf("Discard in Update: %v", err)
	}
}
