package suite

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/sqlstore"
	"github.com/foliofs/folio/internal/store/storetest"
)

// holderPath is where the process of TestHolder finds the volume.
const holderPath = "SQLSTORE_HOLDER_PATH"

// TestHolder keeps a removed file for another process, until that is killed. It is this test again.
func (d *Driver) TestHolder(t *testing.T) {
	if path := os.Getenv(holderPath); path != "" {
		d.pinForever(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "test.folio")
	s := d.Open(t, path, &sqlstore.Options{Create: true})
	var n store.Node
	must.Do(t, s.Update(context.Background(), func(tx store.Tx) (err error) {
		n, err = storetest.AddFile(tx, "file", nil)
		return err
	}))
	kill := startHolder(t, path)
	must.Do(t, s.Update(context.Background(), func(tx store.Tx) error { return storetest.RemoveFile(tx, "file") }))
	must.Do(t, s.Close())
	s = d.Open(t, path, nil)
	if !storetest.Exists(t, s, n.Ino) {
		t.Error("a file is gone that another process holds")
	}
	must.Do(t, s.Close())
	kill()
	if s = d.Open(t, path, nil); storetest.Exists(t, s, n.Ino) {
		t.Error("a file is left that no process holds")
	}
}

// pinForever opens the file and says so, and waits to be killed.
func (d *Driver) pinForever(t *testing.T, path string) {
	v := d.Volume(t, path)
	f, err := v.Open("file")
	must.Do(t, err)
	defer f.Close()
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func startHolder(t *testing.T, path string) (kill func()) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestHolder$")
	c.Env = append(os.Environ(), holderPath+"="+path)
	c.Stderr = os.Stderr
	_, err := c.StdinPipe() // which stays open
	must.Do(t, err)
	out, err := c.StdoutPipe()
	must.Do(t, err)
	must.Do(t, c.Start())
	kill = sync.OnceFunc(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	t.Cleanup(kill)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "held" {
			return kill
		}
	}
	t.Fatal("the other process did not come to hold the file")
	return nil
}
