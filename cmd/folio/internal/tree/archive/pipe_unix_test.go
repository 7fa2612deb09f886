//go:build linux || darwin

package archive

import (
	"archive/tar"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

func makePipe(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A named pipe is a source, though nobody has opened it for writing yet.
func TestPipe(t *testing.T) {
	t.Parallel()
	name := makePipe(t)
	src, err := Open(name, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	wrote := make(chan error, 1)
	go func() { wrote <- writeArchive(name) }()
	var names []string
	err = src.Walk(context.Background(), func(e *tree.Entry) error {
		names = append(names, e.Name+"="+string(e.Data))
		return nil
	})
	if err := errors.Join(err, <-wrote); err != nil || len(names) != 1 || names[0] != "f=hello" {
		t.Errorf("%q, %v", names, err)
	}
}

func writeArchive(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	w := tar.NewWriter(f)
	err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "f", Size: 5, Mode: 0o644})
	_, werr := w.Write([]byte("hello"))
	return errors.Join(err, werr, w.Close(), f.Close())
}

// A walk of a named pipe ends with its context, even if nobody ever opens the other end.
func TestPipeInterrupted(t *testing.T) {
	t.Parallel()
	name := makePipe(t)
	src, err := Open(name, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	cancel(stop)
	if err := src.Walk(ctx, func(*tree.Entry) error { return nil }); !errors.Is(err, stop) {
		t.Errorf("%v, want %v", err, stop)
	}
	if err := src.Close(); err != nil {
		t.Error(err)
	}
	// Let go of the goroutine that opens the pipe, if it has come to that.
	if fd, err := unix.Open(name, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
		t.Cleanup(func() { _ = unix.Close(fd) })
	}
}
