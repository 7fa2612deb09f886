package suite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/sqlstore"
	"github.com/foliofs/folio/internal/store/storetest"
)

// syncPath is where the process of TestSync finds the volume.
const syncPath = "SQLSTORE_SYNC_PATH"

// TestSync looks at the system calls of a process, which is this test again: a commit syncs
// nothing, Sync does, and a second time it does not.
func (d *Driver) TestSync(t *testing.T) {
	if path := os.Getenv(syncPath); path != "" {
		d.syncInside(t, path)
		return
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("no strace")
	}
	trace := filepath.Join(t.TempDir(), "trace")
	c := exec.Command("strace", "-f", "-o", trace, "-e", "trace=fsync,fdatasync,write", os.Args[0], "-test.run=^TestSync$")
	c.Env = append(os.Environ(), syncPath+"="+filepath.Join(t.TempDir(), "test.folio"))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p, err := os.ReadFile(trace)
	must.Do(t, err)
	for _, want := range []struct {
		from, to string
		syncs    bool
	}{{"commit", "sync", false}, {"sync", "again", true}, {"again", "other", false}, {"other", "end", true}} {
		_, rest, _ := strings.Cut(string(p), mark(want.from))
		between, _, ok := strings.Cut(rest, mark(want.to))
		if got := strings.Contains(between, "sync("); got != want.syncs || !ok {
			t.Errorf("from %s to %s: %v, syncs: %v, want %v", want.from, want.to, ok, got, want.syncs)
		}
	}
}

func mark(name string) string { return "mark-" + name + "." }

// syncInside commits and syncs, and says so.
func (d *Driver) syncInside(t *testing.T, path string) {
	s, other := d.Open(t, path, &sqlstore.Options{Create: true}), d.Open(t, path, nil)
	n := 0
	commit := func(s store.Store) {
		n++
		must.Do(t, s.Update(context.Background(), func(tx store.Tx) error {
			_, err := storetest.AddFile(tx, fmt.Sprint(n), nil)
			return err
		}))
	}
	sync := func(s store.Store) { must.Do(t, s.Sync(context.Background())) }
	say := func(name string) { fmt.Fprintln(os.Stderr, mark(name)) }
	commit(s)
	sync(s)
	say("commit")
	commit(s)
	say("sync")
	sync(s)
	say("again")
	sync(s)
	commit(other)
	say("other")
	sync(s)
	say("end")
}
