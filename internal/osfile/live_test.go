package osfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/osfile"
)

// liveRole makes a live file and keeps it.
func liveRole(args []string) error {
	if _, err := osfile.CreateLive(args[0], osfile.CreateTemp); err != nil {
		return err
	}
	os.Stdout.WriteString("ok\n")
	for {
		time.Sleep(time.Hour) // without cgo, a select without cases is a deadlock that ends the process
	}
}

// TestRemoveDead removes the files of killed processes. It leaves those of living processes, and
// files with another name or of another kind.
func TestRemoveDead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("skipped: no locks that tell here")
	}
	dir := t.TempDir()
	p := start(t, "live", dir)
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	mine, err := osfile.CreateLive(dir, osfile.CreateTemp)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Discard()
	write(t, filepath.Join(dir, "other.tmp"))
	link := filepath.Join(dir, strings.Replace(osfile.LivePattern, "*", "link", 1))
	if err := os.Symlink("other.tmp", link); err != nil {
		t.Fatal(err)
	}
	check := func(want int) {
		t.Helper()
		if err := osfile.RemoveDead(dir); err != nil {
			t.Fatal(err)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) != want {
			t.Errorf("%v, %v, want %d", list, err, want)
		}
	}
	check(4)
	p.kill()
	check(3)
}

// Live files are made while the dead ones are looked for, in one process and without losing one.
func TestCreateLiveWhileRemoving(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 200 {
			_ = osfile.RemoveDead(dir)
		}
	}()
	for range 200 {
		f, err := osfile.CreateLive(dir, osfile.CreateTemp)
		if err != nil {
			t.Fatal(err)
		}
		if moved, err := f.Moved(); moved || err != nil {
			t.Error(moved, err)
		}
		if err := f.Discard(); err != nil {
			t.Error(err)
		}
	}
	<-done
}
