package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/foliofs/folio/cmd/folio/internal/interrupt"
)

// A hookWriter calls a function when something is written.
type hookWriter struct {
	bytes.Buffer
	hook func()
}

func (w *hookWriter) Write(p []byte) (int, error) {
	if hook := w.hook; hook != nil {
		w.hook = nil
		hook()
	}
	return w.Buffer.Write(p)
}

// wantNames checks what a directory holds.
func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range list {
		got = append(got, d.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}

// An interrupted import ends with the code that shells expect, and leaves nothing behind, even
// while it waits for a tar archive that does not come.
func TestImportIsInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		ctx, cancel := context.WithCancelCause(t.Context())
		r, w := io.Pipe()
		defer w.Close()
		go func() {
			_, _ = w.Write(make([]byte, 512)) // it looks like a tar archive, and goes on later
			cancel(&interrupt.Error{Signal: s})
		}()
		var stderr bytes.Buffer
		code := run(ctx, []string{"import", "-", filepath.Join(dir, "v.folio")}, r, io.Discard, &stderr)
		if code != 128+int(s) || stderr.String() != "folio: interrupted\n" {
			t.Errorf("%v: exit code %d, %q", s, code, stderr.String())
		}
		wantNames(t, dir)
	}
}

// An interrupted export takes back what it wrote.
func TestExportIsInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src, volume, out := filepath.Join(dir, "src"), filepath.Join(dir, "v.folio"), filepath.Join(dir, "out")
	if err := os.MkdirAll(filepath.Join(src, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "import", src, volume)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&interrupt.Error{Signal: syscall.SIGINT})
	code := run(ctx, []string{"export", volume, out}, nil, io.Discard, io.Discard)
	if code != 130 {
		t.Errorf("exit code %d", code)
	}
	wantNames(t, dir, "src", "v.folio")
}

// So does one that waits for an archive of which nothing has come yet.
func TestSilentInputIsInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	stdin := &hookReader{r: r, hook: func() { cancel(&interrupt.Error{Signal: syscall.SIGINT}) }}
	if code := run(ctx, []string{"import", "-", filepath.Join(dir, "v.folio")}, stdin, io.Discard, io.Discard); code != 130 {
		t.Errorf("exit code %d", code)
	}
	wantNames(t, dir)
}

// A hookReader calls a function before it reads.
type hookReader struct {
	r    io.Reader
	hook func()
}

func (r *hookReader) Read(p []byte) (int, error) {
	r.hook()
	return r.r.Read(p)
}

// interruptedContext returns a context that a signal has ended.
func interruptedContext(t *testing.T, s syscall.Signal) (context.Context, func()) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&interrupt.Error{Signal: s})
	return ctx, func() { cancel(nil) }
}
