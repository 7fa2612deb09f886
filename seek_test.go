package folio_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestSeekHoles compares a file with holes with the same file on disk, where that keeps holes in
// units of a chunk.
func TestSeekHoles(t *testing.T) {
	t.Parallel()
	const chunk, size = 64 << 10, 1 << 40
	v := volumetest.Create(t, func(*folio.Builder) error { return nil })
	f, err := v.OpenFile("f", os.O_RDWR|os.O_CREATE, 0o600)
	must.Do(t, err)
	fill := func(f interface {
		io.WriterAt
		Truncate(size int64) error
	},
	) {
		must.Do(t, must.Second(f.WriteAt(make([]byte, 2*chunk), 3*chunk)))
		must.Do(t, must.Second(f.WriteAt(make([]byte, chunk), 1<<33)))
		must.Do(t, f.Truncate(size))
	}
	fill(f)
	tests := []struct {
		off    int64
		whence int
		want   int64 // less than 0 for ENXIO
	}{
		{0, folio.SeekHole, 0},
		{0, folio.SeekData, 3 * chunk},
		{3*chunk + 5, folio.SeekData, 3*chunk + 5},
		{3 * chunk, folio.SeekHole, 5 * chunk},
		{4 * chunk, folio.SeekHole, 5 * chunk},
		{5 * chunk, folio.SeekData, 1 << 33},
		{1<<33 + chunk - 1, folio.SeekHole, 1<<33 + chunk},
		{1<<33 + chunk, folio.SeekData, -1},
		{size - 1, folio.SeekHole, size - 1},
		{size, folio.SeekHole, -1},
		{size, folio.SeekData, -1},
		{-1, folio.SeekData, -1},
		{-1, folio.SeekHole, -1},
	}
	disk := sparseDisk(t)
	if disk != nil {
		fill(disk)
	}
	for _, tt := range tests {
		got, err := f.Seek(tt.off, tt.whence)
		if tt.want < 0 && !errors.Is(err, syscall.ENXIO) || tt.want >= 0 && (err != nil || got != tt.want) {
			t.Errorf("Seek(%d, %d) = %d, %v, want %d", tt.off, tt.whence, got, err, tt.want)
		}
		if now, err := f.Seek(0, io.SeekCurrent); tt.want >= 0 && now != tt.want || err != nil {
			t.Errorf("after Seek(%d, %d): at %d, %v", tt.off, tt.whence, now, err)
		}
		if disk == nil {
			continue
		}
		if got, err := disk.Seek(tt.off, tt.whence); tt.want < 0 && !errors.Is(err, syscall.ENXIO) || tt.want >= 0 && (err != nil || got != tt.want) {
			t.Errorf("on disk: Seek(%d, %d) = %d, %v, want %d", tt.off, tt.whence, got, err, tt.want)
		}
	}
	must.Do(t, f.Truncate(0))
	if _, err := f.Seek(0, folio.SeekHole); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("in an empty file: %v", err)
	}
}

// sparseDisk returns a file on a disk that knows holes, nil if there is none.
func sparseDisk(t *testing.T) *os.File {
	if runtime.GOOS != "linux" {
		return nil
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	must.Do(t, err)
	t.Cleanup(func() { f.Close() })
	must.Do(t, f.Truncate(1<<20))
	if at, err := f.Seek(0, 4); err != nil || at != 0 {
		return nil
	}
	must.Do(t, f.Truncate(0))
	return f
}
