//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// TestMaxStaleness changes a volume on a server beside a mount whose user allows old answers. The
// mount sees the change of a name, of attributes, and that a name is not there, when that time is
// over. It never gives a part of a content, and sees its own changes at once.
func TestMaxStaleness(t *testing.T) {
	needFUSE(t)
	address := pgserver.Volume(t)
	const most = 200 * time.Millisecond
	d := startDaemon(t, address+"&max_staleness="+most.String())
	v, err := openVolume(address)
	must.Do(t, err)
	defer v.Close()

	// until looks again and again until seen, which must be so if a look begins late enough.
	until := func(what string, seen func() bool) {
		t.Helper()
		for changed := time.Now(); ; {
			begun := time.Now()
			if seen() {
				return
			}
			if begun.After(changed.Add(most)) {
				t.Fatalf("%s: not seen after %v", what, begun.Sub(changed))
			}
		}
	}
	name := d.path("file")
	for i := range 20 {
		content := bytes.Repeat([]byte{byte('a' + i)}, 10+1000*(i*7%20))
		_, _ = os.Stat(name) // the kernel keeps the size, or that there is no file
		must.Do(t, v.WriteFile("file", content, 0o644))
		until("content", func() bool {
			got, err := os.ReadFile(name)
			switch {
			case errors.Is(err, fs.ErrNotExist) && i == 0:
				return false
			case err != nil:
				t.Fatal(err)
			case !bytes.Equal(got, content): // contents are new as soon as the file is found
				t.Fatalf("%d bytes of %.3q, want %d of %.3q", len(got), got, len(content), content)
			}
			return true
		})
		must.Do(t, v.Chmod("file", fs.FileMode(0o600+i)))
		until("mode", func() bool {
			info, err := os.Stat(name)
			must.Do(t, err)
			return info.Mode().Perm() == fs.FileMode(0o600+i)
		})
		other := fmt.Sprint("other", i)
		must.Do(t, os.WriteFile(d.path(other), content, 0o600))
		if got, err := os.ReadFile(d.path(other)); err != nil || !bytes.Equal(got, content) {
			t.Fatalf("its own change: %d bytes, %v", len(got), err)
		}
		must.Do(t, v.Remove(other))
		until("removed", func() bool {
			_, err := os.Stat(d.path(other))
			return errors.Is(err, fs.ErrNotExist)
		})
		must.Do(t, os.Mkdir(d.path(other), 0o755)) // the kernel keeps that there is no such name
		if info, err := os.Stat(d.path(other)); err != nil || !info.IsDir() {
			t.Fatalf("its own directory: %v", err)
		}
	}
}
