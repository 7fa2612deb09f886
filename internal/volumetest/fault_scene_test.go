package volumetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/faultfs"
)

// A faultScene is a volume, the objects of it that calls use, and a fault that happens to it.
type faultScene struct {
	testing.TB
	dir, path string
	sys       *faultfs.System // of all operations on files
	v         *folio.Volume
	root      *folio.Root
	rx        *folio.Rx
	tx        *folio.Tx
	builder   *folio.Builder
	file, sub *folio.File // d/f, to read and write, and directory d
	entry     fs.DirEntry // of d/f
	info      fs.FileInfo
	middle    func() // the fault, for callbacks of a call
	keep      bool   // in a transaction, calls use the files that the volume has opened
	names     int    // that newName has returned
}

// A scope says in which function of the caller a call runs.
type scope int

const (
	onVolume scope = iota
	inView
	inUpdate
	inCreate
)

// A faultImage holds the files of a volume by their suffix.
type faultImage map[string][]byte

// faultContent is the content of file d/f: half of the volume.
var faultContent = bytes.Repeat([]byte("0123456789abcdef"), 12<<10)

const faultFiles = 300 // in directory d/many

// newFaultImage returns a volume whose log holds a part of it.
func newFaultImage(t *testing.T) faultImage {
	t.Helper()
	v := Empty(t)
	must.Do(t, v.Update(t.Context(), func(tx *folio.Tx) error {
		err := tx.MkdirAll("d/many", 0o755)
		for i := 0; i < faultFiles && err == nil; i++ {
			err = tx.WriteFile(fmt.Sprintf("d/many/%03d", i), []byte("content"), 0o644)
		}
		return err
	}))
	info, err := v.Info(t.Context())
	must.Do(t, errors.Join(err, v.Close()))
	v, err = folio.Open(info.Path, nil)
	must.Do(t, err)
	defer v.Close()
	must.Do(t, errors.Join(
		v.WriteFile("d/f", faultContent, 0o644), v.SetXattr("d/f", "user.a", []byte("value")),
		v.Symlink("d/f", "link"), v.Mkdir("empty", 0o755), v.Symlink("gone", "dangling"),
		v.CreateSnapshot(t.Context(), "past"), v.WriteFile("d/many/000", []byte("changed"), 0o644), v.Remove("d/many/001"),
		v.CreateSnapshot(t.Context(), "newer"),
	))
	image := make(faultImage)
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(info.Path + suffix)
		must.Do(t, err)
		image[suffix] = data
	}
	return image
}

// writeFile writes a file. On a small disk there may be no room for a moment: a process that
// another test starts holds the files of the scene before until it runs its program.
func writeFile(name string, data []byte) error {
	err := os.WriteFile(name, data, 0o600)
	for end := time.Now().Add(10 * time.Second); errors.Is(err, syscall.ENOSPC) && time.Now().Before(end); runtime.Gosched() {
		err = os.WriteFile(name, data, 0o600)
	}
	return err
}

// open makes a copy of the volume in directory dir and opens it.
func (s *faultScene) open(image faultImage, o *folio.Options) error {
	s.path = filepath.Join(s.dir, "v.folio")
	for suffix, data := range image {
		must.Do(s, writeFile(s.path+suffix, data))
	}
	s.sys = faultfs.New(osfile.OS.(*mountTable).System)
	mounts.mount(s.dir, s.sys)
	var err error
	if s.v, err = folio.Open(s.path, o); err != nil {
		return err
	}
	if s.root, err = s.v.OpenRoot("."); err != nil {
		return err
	}
	return s.openFiles(s.v)
}

// openFiles opens the files that calls use.
func (s *faultScene) openFiles(from faultReader) (err error) {
	if w, ok := from.(faultWriter); ok {
		s.file, err = w.OpenFile("d/f", os.O_RDWR, 0)
	} else {
		s.file, err = from.Open("d/f")
	}
	if err == nil {
		s.sub, err = from.Open("d")
	}
	if err == nil {
		s.info, err = from.Stat("d/f")
	}
	if err != nil {
		return err
	}
	list, err := from.ReadDir("d")
	if err == nil {
		s.entry = list[0]
	}
	return err
}

// close closes the volume and removes its files.
func (s *faultScene) close() {
	s.sys.Heal()
	if s.v != nil {
		_ = s.v.Close()
	}
	mounts.systems.Delete(s.dir)
	entries, err := os.ReadDir(s.dir)
	must.Do(s, err)
	for _, e := range entries {
		must.Do(s, os.RemoveAll(filepath.Join(s.dir, e.Name())))
	}
}

// newName returns a name that no file has.
func (s *faultScene) newName() string {
	s.names++
	return fmt.Sprint("new", s.names)
}

// half is the middle of a call that calls the caller back: the fault happens there, once.
func (s *faultScene) half() {
	if fn := s.middle; fn != nil {
		s.middle = nil
		fn()
	}
}

// A halfway is a content and its target: in the middle of both is the fault.
type halfway struct{ s *faultScene }

func (h halfway) Write(p []byte) (int, error) {
	h.s.half()
	return len(p), nil
}

func (h halfway) Read(p []byte) (int, error) {
	again := h.s.middle != nil
	h.s.half()
	clear(p)
	if again {
		return len(p), nil
	}
	return 0, io.EOF
}

// in calls fn where a call of that scope is made.
func (s *faultScene) in(where scope, fn func() error) error {
	ctx := context.Background()
	switch where {
	case inView:
		return s.v.View(ctx, func(rx *folio.Rx) error { return s.within(rx, nil, fn) })
	case inUpdate:
		return s.v.Update(ctx, func(tx *folio.Tx) error { return s.within(&tx.Rx, tx, fn) })
	case inCreate:
		return folio.Create(ctx, s.path+".created", nil, func(b *folio.Builder) error {
			s.builder = b
			return fn()
		})
	}
	return fn()
}

// within calls fn with the files of a transaction.
func (s *faultScene) within(rx *folio.Rx, tx *folio.Tx, fn func() error) error {
	s.rx, s.tx = rx, tx
	var from faultReader = rx
	if tx != nil {
		from = tx
	}
	if s.keep {
		return fn()
	}
	if err := s.openFiles(from); err != nil {
		return fmt.Errorf("before the fault: %w", err)
	}
	return fn()
}

// A panicError is a panic that came out of a call.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

// guarded calls fn. It returns a panic as an error, and ends the process with all stacks if fn
// hangs.
func guarded(what string, fn func() error) (err error) {
	watchdog := time.AfterFunc(30*time.Second, func() {
		debug.SetTraceback("all")
		panic(what + " hangs")
	})
	defer watchdog.Stop()
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{p, debug.Stack()}
		}
	}()
	return fn()
}
