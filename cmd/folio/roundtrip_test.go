package main

import (
	"bytes"
	"flag"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/location"
)

// goroot returns where the Go distribution is.
func goroot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command:", err)
	}
	return strings.TrimSpace(string(out))
}

// The Go distribution survives a round trip: contents, modes, owners, times, links.
func TestRoundTripGOROOT(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("copies GOROOT")
	}
	goroot, dir := goroot(t), t.TempDir()
	volume, copied := filepath.Join(dir, "v.folio"), filepath.Join(dir, "copy")
	mustRun(t, "import", goroot, volume)
	mustRun(t, "export", volume, copied)
	if err := compareTrees(goroot, copied); err != nil {
		t.Error(err)
	}
	compareContents(t, goroot, copied)
	if got := mustRun(t, "check", volume); !strings.Contains(got, ": ok: ") {
		t.Error(got)
	}
}

// compareContents compares the regular files of two trees that have the same names.
func compareContents(t *testing.T, a, b string) {
	t.Helper()
	inB := os.DirFS(b)
	err := fs.WalkDir(os.DirFS(a), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		x, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			return err
		}
		y, err := fs.ReadFile(inB, name)
		if !bytes.Equal(x, y) {
			t.Errorf("%s differs", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

var archiveTree = flag.String("archive.tree", "src/net", "the directory of GOROOT that TestRoundTripArchives takes; . is all of it")

// The Go sources, with hard links, times and extended attributes added, survive a round trip
// through each kind of archive that keeps all of that.
func TestRoundTripArchives(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("copies a part of GOROOT")
	}
	dir := t.TempDir()
	volume := filepath.Join(dir, "v.folio")
	mustRun(t, "import", filepath.Join(goroot(t), *archiveTree), volume)
	decorate(t, volume)
	want := linksIn(t, volume)
	for _, name := range []string{"a.tar", "a.tar.gz", "a.tar.zst"} {
		archive, back := filepath.Join(dir, name), filepath.Join(dir, name+".folio")
		if code, _, stderr := runFolio(t, "convert", volume, archive); code != exitOK || stderr != "" {
			t.Errorf("%s: %s", name, stderr)
		}
		mustRun(t, "convert", archive, back)
		if got := mustRun(t, "diff", "--attributes", "all", volume, back); got != "" {
			t.Errorf("%s: %s", name, got)
		}
		if got := linksIn(t, back); len(want) == 0 || !maps.Equal(got, want) {
			t.Errorf("%s: %d names of files with several, want %d", name, len(got), len(want))
		}
	}
}

// decorate gives every tenth file of a volume another name, and others a time and an attribute.
func decorate(t *testing.T, volume string) {
	t.Helper()
	v, err := folio.Open(volume, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	err = v.Update(t.Context(), func(tx *folio.Tx) error {
		n := 0
		return listing.Walk(location.Root(volume), &tx.Rx, func(e *listing.Entry) error {
			switch n++; n % 10 {
			case 0:
				if e.Mode.IsRegular() {
					return tx.Link(e.Path, path.Join(path.Dir(e.Path), "another name "+path.Base(e.Path)))
				}
			case 3:
				return tx.Lchtimes(e.Path, time.Unix(int64(n), 1), time.Unix(int64(n), 123456789))
			case 6:
				if e.Mode.IsRegular() || e.Mode.IsDir() {
					return tx.SetXattr(e.Path, "user.n", []byte{byte(n), 0, '='})
				}
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// linksIn returns the first name of each name of a file that has several.
func linksIn(t *testing.T, volume string) map[string]string {
	t.Helper()
	first, links := make(map[uint64]string), make(map[string]string)
	err := location.Root(volume).View(t.Context(), func(rx *folio.Rx) error {
		return listing.Walk(location.Root(volume), rx, func(e *listing.Entry) error {
			if e.Mode.IsDir() || e.Node.Nlink == 1 {
				return nil
			}
			if first[e.Node.Ino] == "" {
				first[e.Node.Ino] = e.Path
			}
			links[e.Path] = first[e.Node.Ino]
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return links
}
