package folio_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestFileLikeOS does the same random things with a file in a volume and one of the operating
// system.
func TestFileLikeOS(t *testing.T) {
	t.Parallel()
	r := random.New(t)
	content := make([]byte, 300_000)
	for i := range content {
		content[i] = byte(r.Uint32())
	}
	d := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(d, "f"), content, 0o644))
	want, err := os.Open(filepath.Join(d, "f"))
	must.Do(t, err)
	defer want.Close()
	v := volumetest.Import(t, d)
	got, err := v.Open("f")
	must.Do(t, err)
	defer got.Close()
	for range 2000 {
		s := r.Uint64()
		a, aerr := fileStep(rand.New(rand.NewPCG(s, 0)), got)
		b, berr := fileStep(rand.New(rand.NewPCG(s, 0)), want)
		if a != b || (aerr == nil) != (berr == nil) || (aerr == io.EOF) != (berr == io.EOF) {
			t.Fatalf("step %d: %.100q, %v; want %.100q, %v", s, a, aerr, b, berr)
		}
	}
}

// A seekingFile has the methods of both kinds of files.
type seekingFile interface {
	fs.File
	io.ReaderAt
	io.Seeker
	io.WriterTo
}

// fileStep does one random thing and describes the result.
func fileStep(r *rand.Rand, f seekingFile) (string, error) {
	size := []int{0, 1, 100, 4096, 70_000, 400_000}[r.IntN(6)]
	off := r.Int64N(310_000) - 2000
	switch r.IntN(6) {
	case 0:
		p := make([]byte, size)
		n, err := f.ReadAt(p, off)
		return string(p[:n]), err
	case 1:
		to, err := f.Seek(off, io.SeekStart)
		return strconv.FormatInt(to, 10), err
	case 2:
		to, err := f.Seek(off/10, io.SeekCurrent)
		return strconv.FormatInt(to, 10), err
	case 3:
		to, err := f.Seek(-off, io.SeekEnd)
		return strconv.FormatInt(to, 10), err
	case 4:
		var b bytes.Buffer
		n, err := f.WriteTo(&b)
		return b.String() + strconv.FormatInt(n, 10), err
	}
	p := make([]byte, size)
	n, err := f.Read(p)
	return string(p[:n]), err
}

func TestReader(t *testing.T) {
	t.Parallel()
	content := []byte(strings.Repeat("folio", 1000))
	v := volumetest.Create(t, volumetest.AddAll(volumetest.NewEntry("f", string(content), 0o644)))
	f, err := v.Open("f")
	must.Do(t, err)
	must.Do(t, iotest.TestReader(f, content))
}

func TestSeekErrors(t *testing.T) {
	t.Parallel()
	v := volumetest.Create(t, volumetest.AddAll(volumetest.NewEntry("f", "hello", 0o644), volumetest.NewEntry("d/x", "", 0o644)))
	f, err := v.Open("f")
	must.Do(t, err)
	_, err = f.Seek(-1, io.SeekStart)
	checkError(t, err, "seek", "f", fs.ErrInvalid)
	_, err = f.Seek(0, 5)
	checkError(t, err, "seek", "f", fs.ErrInvalid)
	must.Do(t, must.Second(f.Seek(store.MaxSize, io.SeekStart))) // no file can have anything behind that
	for _, off := range []int64{1, math.MaxInt64} {
		_, err = f.Seek(off, io.SeekCurrent)
		checkError(t, err, "seek", "f", fs.ErrInvalid)
	}
	if n, err := f.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("far beyond the end: %d, %v", n, err)
	}
	if n, err := f.Read(nil); n != 0 || err != nil {
		t.Errorf("nothing: %d, %v", n, err)
	}
	if n, err := f.WriteTo(io.Discard); n != 0 || err != nil {
		t.Errorf("WriteTo beyond the end: %d, %v", n, err)
	}
	_, err = f.ReadAt(make([]byte, 1), -1)
	if pe, ok := err.(*fs.PathError); !ok || pe.Op != "readat" {
		t.Errorf("%v", err)
	}
}

// TestClosedFile uses a file after Close, and one of a volume after its Close.
func TestClosedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v")
	must.Do(t, folio.Create(context.Background(), path, nil, volumetest.AddAll(volumetest.NewEntry("d/f", "hello", 0o644))))
	v, err := folio.Open(path, nil)
	must.Do(t, err)
	f, err := v.Open("d/f")
	must.Do(t, err)
	other, err := v.Open("d/f")
	must.Do(t, err)
	must.Do(t, f.Close())
	checkError(t, f.Close(), "close", "d/f", fs.ErrClosed)
	checkClosed(t, f)
	must.Do(t, v.Close())
	checkClosed(t, other)
	_, err = v.Open("d")
	if !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a closed volume: %v", err)
	}
	must.Do(t, other.Close())
}

func checkClosed(t *testing.T, f *folio.File) {
	t.Helper()
	p := make([]byte, 1)
	for name, call := range map[string]func() error{
		"Read":    func() error { _, err := f.Read(p); return err },
		"ReadAt":  func() error { _, err := f.ReadAt(p, 0); return err },
		"SeekEnd": func() error { _, err := f.Seek(0, io.SeekEnd); return err },
		"WriteTo": func() error { _, err := f.WriteTo(io.Discard); return err },
		"Stat":    func() error { _, err := f.Stat(); return err },
		"ReadDir": func() error { _, err := f.ReadDir(1); return err },
	} {
		if err := call(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: %v, want fs.ErrClosed", name, err)
		}
	}
	if f.Name() != "d/f" {
		t.Errorf("Name: %s", f.Name())
	}
}

func TestDirectoryAsFile(t *testing.T) {
	t.Parallel()
	v := volumetest.Create(t, volumetest.AddAll(volumetest.NewEntry("d/a", "", 0o644), volumetest.NewEntry("d/b", "", 0o644), volumetest.NewEntry("d/c", "", 0o644), volumetest.NewEntry("fifo", "", fs.ModeNamedPipe)))
	d, err := v.Open("d")
	must.Do(t, err)
	_, err = d.Read(make([]byte, 1))
	checkError(t, err, "read", "d", folio.ErrIsDirectory)
	_, err = d.ReadAt(make([]byte, 1), 0)
	checkError(t, err, "read", "d", folio.ErrIsDirectory)
	_, err = d.WriteTo(io.Discard)
	checkError(t, err, "read", "d", folio.ErrIsDirectory)
	_, err = d.Seek(1, io.SeekStart)
	checkError(t, err, "seek", "d", folio.ErrIsDirectory)
	for range 2 {
		var got []string
		for {
			list, err := d.ReadDir(2)
			for _, e := range list {
				got = append(got, e.Name())
			}
			if err == io.EOF {
				break
			}
			must.Do(t, err)
		}
		if !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("in steps: %q", got)
		}
		if list, err := d.ReadDir(-1); len(list) != 0 || err != nil {
			t.Errorf("at the end: %v, %v", list, err)
		}
		must.Do(t, must.Second(d.Seek(0, io.SeekStart)))
	}
	f, err := v.Open("fifo")
	must.Do(t, err)
	_, err = f.Read(make([]byte, 1))
	checkError(t, err, "read", "fifo", folio.ErrNotRegular)
	_, err = f.ReadDir(1)
	checkError(t, err, "readdirent", "fifo", folio.ErrNotDirectory)
}

// TestView checks that a view ends its files.
func TestView(t *testing.T) {
	t.Parallel()
	v := volumetest.Create(t, volumetest.AddAll(volumetest.NewEntry("d/f", "hello", 0o644)))
	var kept *folio.Rx
	var f *folio.File
	var list []fs.DirEntry
	must.Do(t, v.View(context.Background(), func(rx *folio.Rx) error {
		kept = rx
		var err error
		if f, err = rx.Open("d/f"); err != nil {
			return err
		}
		if list, err = rx.ReadDir("d"); err != nil {
			return err
		}
		if info, err := list[0].Info(); err != nil || info.Size() != 5 {
			t.Errorf("%v, %v", info, err)
		}
		p, err := io.ReadAll(f)
		if string(p) != "hello" {
			t.Errorf("%q", p)
		}
		return err
	}))
	checkClosed(t, f)
	if _, err := kept.Stat("d"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Stat after the view: %v", err)
	}
	if _, err := list[0].Info(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Info after the view: %v", err)
	}
	failed := errors.New("failed")
	if err := v.View(context.Background(), func(*folio.Rx) error { return failed }); err != failed {
		t.Errorf("%v", err)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if err := v.View(done, func(*folio.Rx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is done: %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = v.View(context.Background(), func(*folio.Rx) error { panic("fn") })
	}() // must not keep Close waiting
}

// TestWriteToFails checks that Read goes on where a writer stopped.
func TestWriteToFails(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("0123456789", 100_000)
	v := volumetest.Create(t, volumetest.AddAll(volumetest.NewEntry("f", content, 0o644)))
	f, err := v.Open("f")
	must.Do(t, err)
	w := &shortWriter{room: 300_000}
	n, err := f.WriteTo(w)
	if err != io.ErrShortWrite || n != 300_000 {
		t.Errorf("%d, %v", n, err)
	}
	rest, err := io.ReadAll(f)
	must.Do(t, err)
	if got := w.String() + string(rest); got != content {
		t.Errorf("%d bytes, want %d; or others", len(got), len(content))
	}
}

type shortWriter struct {
	bytes.Buffer
	room int
}

func (w *shortWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.room)
	w.room -= n
	return w.Buffer.Write(p[:n])
}

// A callingWriter is a function that does the writing.
type callingWriter func(p []byte) (int, error)

func (w callingWriter) Write(p []byte) (int, error) { return w(p) }

// TestWriteToHoldsNothing uses a file from within the writer that WriteTo writes to.
func TestWriteToHoldsNothing(t *testing.T) {
	t.Parallel()
	d := t.TempDir()
	content := bytes.Repeat([]byte("0123456789abcdef"), 40_000)
	must.Do(t, os.WriteFile(filepath.Join(d, "f"), content, 0o644))
	v := volumetest.Import(t, d)
	f, err := v.Open("f")
	must.Do(t, err)
	calls := 0
	n, err := f.WriteTo(callingWriter(func(p []byte) (int, error) {
		calls++
		_, err := f.Stat()
		must.Do(t, err)
		_, err = f.ReadAt(make([]byte, 1), 0)
		must.Do(t, err)
		if calls == 2 {
			must.Do(t, f.Close())
		}
		return len(p), nil
	}))
	if !errors.Is(err, fs.ErrClosed) || calls != 2 || n == 0 {
		t.Errorf("%d bytes in %d calls, %v; want the file closed after 2", n, calls, err)
	}
}

// TestWriteToShort reads on after a writer that accepted a part only.
func TestWriteToShort(t *testing.T) {
	t.Parallel()
	d := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(d, "f"), []byte("0123456789"), 0o644))
	v := volumetest.Import(t, d)
	f, err := v.Open("f")
	must.Do(t, err)
	defer f.Close()
	n, err := f.WriteTo(callingWriter(func([]byte) (int, error) { return 4, nil }))
	if n != 4 || err != io.ErrShortWrite {
		t.Errorf("%d, %v; want 4 and a short write", n, err)
	}
	if rest, err := io.ReadAll(f); string(rest) != "456789" || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
}
