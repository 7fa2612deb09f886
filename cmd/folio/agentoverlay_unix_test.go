//go:build linux || darwin

package main

import (
	"bytes"
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/overlay"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/sqlitefile"
)

var (
	agentSDK    = flag.Bool("agentfs.sdk", false, "let AgentFS's SDK for Rust read the overlays, too: it is fetched and built")
	agentRounds = flag.Int("agentfs.rounds", 6, "how many random overlays TestAgentOverlayRandom exports")
	agentSeed   = flag.Uint64("agentfs.seed", 1, "the first of their seeds")
)

// An overlayCase is a change of an overlay, and what a database of AgentFS has to have of it.
type overlayCase struct {
	name   string
	change func(v *folio.Volume) error
	held   string // files in the database
	gone   string // whiteouts
}

// overlayBaseFiles are the files of the base.
var overlayBaseFiles = map[string]string{
	"f": "of the base", "d/a": "a", "d/b": "b", "d/sub/x": "x", "d/sub/y": "y", "e/one": "1", "large": strings.Repeat("0123456789abcdef", 20_000),
}

var overlayCases = []overlayCase{
	{name: "nothing", change: func(*folio.Volume) error { return nil }, held: ".", gone: ""},
	{name: "a new file", change: func(v *folio.Volume) error { return v.WriteFile("e/new", []byte("new"), 0o640) }, held: ". e e/new"},
	{name: "a removed file", change: func(v *folio.Volume) error { return v.Remove("d/a") }, held: ". d", gone: "/d/a"},
	{name: "a removed directory", change: func(v *folio.Volume) error { return v.RemoveAll("d") }, held: ".", gone: "/d"},
	{name: "an opaque directory", change: func(v *folio.Volume) error {
		return first(v.RemoveAll("d"), v.Mkdir("d", 0o700), v.WriteFile("d/b", []byte("mine"), 0o600))
	}, held: ". d d/b", gone: "/d/a /d/sub"},
	{name: "an opaque directory in an opaque directory", change: func(v *folio.Volume) error {
		return first(v.RemoveAll("d"), v.MkdirAll("d/sub", 0o700), v.WriteFile("d/sub/z", nil, 0o600))
	}, held: ". d d/sub d/sub/z", gone: "/d/a /d/b /d/sub/x /d/sub/y"},
	{name: "a file over a directory", change: func(v *folio.Volume) error {
		return first(v.RemoveAll("d"), v.WriteFile("d", []byte("a file"), 0o600))
	}, held: ". d"},
	{name: "a directory over a file", change: func(v *folio.Volume) error {
		return first(v.Remove("f"), v.Mkdir("f", 0o700), v.WriteFile("f/in", nil, 0o600))
	}, held: ". f f/in"},
	{name: "a link over a directory", change: func(v *folio.Volume) error {
		return first(v.RemoveAll("d"), v.Symlink("e", "d"))
	}, held: ". d"},
	{name: "a moved file", change: func(v *folio.Volume) error { return v.Rename("d/a", "e/a") }, held: ". d e e/a", gone: "/d/a"},
	{name: "a moved directory", change: func(v *folio.Volume) error {
		return first(v.Rename("d", "m"), v.WriteFile("m/sub/x", []byte("changed"), 0))
	}, held: ". m m/a m/b m/sub m/sub/x m/sub/y", gone: "/d"},
	{name: "a moved directory over another", change: func(v *folio.Volume) error {
		return first(v.RemoveAll("e"), v.Rename("d/sub", "e"))
	}, held: ". d e e/x e/y", gone: "/d/sub /e/one"},
	{name: "directories that changed places", change: func(v *folio.Volume) error {
		return first(v.Rename("d", "t"), v.Rename("e", "d"), v.Rename("t", "e"))
	}, held: ". d d/one e e/a e/b e/sub e/sub/x e/sub/y", gone: "/d/a /d/b /d/sub /e/one"},
	{name: "a directory that came back", change: func(v *folio.Volume) error {
		return first(v.Rename("d/sub", "s"), v.RemoveAll("d"), v.Mkdir("d", 0o755), v.Rename("s", "d/sub"), v.Remove("d/sub/x"))
	}, held: ". d d/sub", gone: "/d/a /d/b /d/sub/x"},
	{name: "a hard link to a file of the base", change: func(v *folio.Volume) error { return v.Link("f", "e/link") }, held: ". e e/link f"},
	{name: "a hard link that replaced a file", change: func(v *folio.Volume) error {
		return first(v.Remove("e/one"), v.Link("d/a", "e/one"))
	}, held: ". d d/a e e/one"},
	{name: "attributes", change: func(v *folio.Volume) error {
		return first(v.Chmod("d/a", 0o4711), v.Chtimes("d", time.Unix(7, 8), time.Unix(5, 123456789)), v.Chtimes("f", time.Unix(1, 0), time.Unix(2, 9)))
	}, held: ". d d/a f"},
	{name: "an attribute that AgentFS does not know", change: func(v *folio.Volume) error { return v.SetXattr("f", "user.a", []byte("b")) }, held: ". f"},
	{name: "a byte of a large file", change: func(v *folio.Volume) error {
		f, err := v.OpenFile("large", os.O_RDWR, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteAt([]byte("X"), 100_000)
		return first(err, f.Close())
	}, held: ". large"},
	{name: "a file that was cut off and grew", change: func(v *folio.Volume) error {
		f, err := v.OpenFile("large", os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return first(f.Truncate(70_000), f.Truncate(400_000), f.Close())
	}, held: ". large"},
	{name: "links and devices", change: func(v *folio.Volume) error {
		return first(v.Symlink("../f", "e/s"), v.Mknod("e/p", fs.ModeNamedPipe|0o600, 0), v.Remove("link"))
	}, held: ". e e/p e/s", gone: "/link"},
	{name: "removed and made again", change: func(v *folio.Volume) error {
		return first(v.Remove("f"), v.WriteFile("f", []byte("of the base"), 0o644))
	}, held: ". f"},
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestAgentOverlay exports overlays as overlays of AgentFS. These hold the changes and nothing
// else, and taken in with their base they are what the overlay showed.
func TestAgentOverlay(t *testing.T) {
	t.Parallel()
	reader := agentReader(t)
	for _, c := range overlayCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base := makeOverlayBase(t)
			volume := makeOverlay(t, base, c.change)
			database, flat := exportOverlay(t, base, volume)
			if held, gone := agentChanges(t, database); held != c.held || gone != c.gone {
				t.Errorf("holds %s\nwithout %s\nwant  %s\nwithout %s", held, gone, c.held, c.gone)
			}
			reader.compare(t, database, flat)
		})
	}
}

func makeOverlayBase(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "base")
	for name, content := range overlayBaseFiles {
		at := filepath.Join(dir, name)
		if err := first(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("d/a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func makeOverlay(t *testing.T, base string, change func(v *folio.Volume) error) (volume string) {
	t.Helper()
	volume = filepath.Join(t.TempDir(), "changes.folio")
	o, err := overlay.Open(volume, base, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := first(change(o.Volume), o.Close()); err != nil {
		t.Fatal(err)
	}
	return volume
}

// exportOverlay exports an overlay to AgentFS, takes it in again, and compares that with the volume
// flat, which has what the overlay shows.
func exportOverlay(t *testing.T, base, volume string) (database, flat string) {
	t.Helper()
	dir := t.TempDir()
	database, flat = filepath.Join(dir, "out.agentfs"), filepath.Join(dir, "flat.folio")
	back, whole, all := filepath.Join(dir, "back.folio"), filepath.Join(dir, "whole.agentfs"), filepath.Join(dir, "all.folio")
	lossy := func(args ...string) {
		t.Helper()
		if code, _, stderr := runFolio(t, args...); code != exitOK || stderr != "" && !strings.HasSuffix(stderr, " lost extended attributes\n") {
			t.Fatalf("%q: %s", args, stderr)
		}
	}
	mustRun(t, "convert", "-q", "--base", base, volume, flat)
	lossy("export", "-q", "--base", base, volume, database)
	lossy("convert", "-q", "--flat", "--base", base, volume, whole)
	mustRun(t, "import", "-q", "--base", base, database, back)
	mustRun(t, "import", "-q", whole, all)
	for _, got := range []string{back, all} {
		if diff := mustRun(t, "diff", "--attributes", "mode,owner,times", flat, got); diff != "" {
			t.Errorf("%s differs:\n%s", filepath.Base(got), diff)
		}
		mustRun(t, "check", got)
	}
	return database, flat
}

// agentChanges returns the files that a database of AgentFS holds, and its whiteouts.
func agentChanges(t *testing.T, database string) (held, gone string) {
	t.Helper()
	volume := filepath.Join(t.TempDir(), "changes.folio")
	if code, _, stderr := runFolio(t, "import", "-q", "--changes-only", database, volume); code != exitOK {
		t.Fatal(stderr)
	}
	var paths []string
	v := openFolio(t, volume)
	err := v.View(t.Context(), func(rx *folio.Rx) error {
		return listing.Walk(location.Root(volume), rx, func(e *listing.Entry) error {
			paths = append(paths, e.Path)
			return nil
		})
	})
	if err = first(err, v.Close()); err != nil {
		t.Fatal(err)
	}
	return strings.Join(paths, " "), strings.Join(agentWhiteouts(t, database), " ")
}

func openFolio(t *testing.T, volume string) *folio.Volume {
	t.Helper()
	v, err := folio.Open(volume, &folio.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func agentWhiteouts(t *testing.T, database string) (list []string) {
	t.Helper()
	db, err := sqlitefile.Open(database, &sqlitefile.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(t.Context(), func(rx *sqlitefile.Rx) error {
		table, err := rx.Table("fs_whiteout")
		if err != nil {
			return err
		}
		for row, err := range table.All() {
			var name, parent string
			if err == nil {
				err = row.Scan(&name, &parent)
			}
			if err != nil {
				return err
			}
			if parent != path.Dir(name) {
				t.Errorf("whiteout %s has the parent %s", name, parent)
			}
			list = append(list, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// An overlayReader is a program with AgentFS's SDK for Rust; "" if it is not asked for.
type overlayReader string

// buildReader builds it once.
var buildReader = sync.OnceValues(func() (overlayReader, error) {
	target := filepath.Join(os.TempDir(), "folio-agentfs-sdk")
	cmd := exec.Command("cargo", "build", "--quiet", "--release", "--locked", "--target-dir", target)
	cmd.Dir = "testdata/agentfs"
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %.500s", err, out)
	}
	return overlayReader(filepath.Join(target, "release", "overlay")), err
})

func agentReader(t *testing.T) overlayReader {
	t.Helper()
	if !*agentSDK {
		return ""
	}
	r, err := buildReader()
	if err != nil {
		t.Skip("no SDK of AgentFS:", err)
	}
	return r
}

// compare compares what AgentFS shows of a database and its base with a volume.
func (r overlayReader) compare(t *testing.T, database, flat string) {
	t.Helper()
	if r == "" {
		return
	}
	out, err := exec.Command(string(r), database).Output()
	if err != nil {
		t.Fatalf("AgentFS: %v: %s", err, out)
	}
	got, want := strings.Split(strings.TrimSpace(string(out)), "\n"), agentLines(t, flat)
	slices.Sort(got)
	slices.Sort(want)
	got = slices.DeleteFunc(got, func(line string) bool { // a directory over a file of the base
		rest, unlisted := strings.CutPrefix(line, "unlisted ")
		dir, _, _ := strings.Cut(rest, ": ")
		if unlisted {
			want = slices.DeleteFunc(want, func(line string) bool { return strings.Contains(line, " "+dir+"/") })
		}
		return unlisted
	})
	if !slices.Equal(got, want) {
		t.Errorf("AgentFS shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// agentLines describes the files of a volume as the program does.
func agentLines(t *testing.T, volume string) (lines []string) {
	t.Helper()
	v := openFolio(t, volume)
	defer v.Close()
	err := v.View(t.Context(), func(rx *folio.Rx) error {
		return listing.Walk(location.Root(volume), rx, func(e *listing.Entry) error {
			if e.Path == "." {
				return nil
			}
			content, size := []byte(e.Target), e.Node.Size
			switch {
			case e.Mode.IsRegular():
				var err error
				if content, err = rx.ReadFile(e.Path); err != nil {
					return err
				}
			case e.Mode.IsDir():
				size = 0
			}
			sum := fnv.New64a()
			_, _ = sum.Write(content)
			mode, _ := posix.Mode(e.Mode)
			at := time.Unix(0, e.Node.Mtime)
			lines = append(lines, fmt.Sprintf("%o %d %d %d %d.%09d %016x /%s",
				mode, e.Node.UID, e.Node.GID, size, at.Unix(), at.Nanosecond(), sum.Sum64(), e.Path))
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestAgentOverlayRandom does the same with random changes of random trees.
func TestAgentOverlayRandom(t *testing.T) {
	t.Parallel()
	reader := agentReader(t)
	for round := range uint64(*agentRounds) {
		seed := *agentSeed + round
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			base := filepath.Join(t.TempDir(), "base")
			if err := os.Mkdir(base, 0o755); err != nil {
				t.Fatal(err)
			}
			below := filepath.Join(t.TempDir(), "below.folio")
			v, err := folio.Open(below, &folio.Options{Create: true})
			if err != nil {
				t.Fatal(err)
			}
			// AgentFS 0.6.4 takes hard links within the base for the file that it saw first.
			changeAtRandom(r, v, 60, reader == "")
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
			mustRun(t, "export", "-q", below, base)
			volume := makeOverlay(t, base, func(v *folio.Volume) error {
				changeAtRandom(r, v, 60, true)
				return nil
			})
			database, flat := exportOverlay(t, base, volume)
			reader.compare(t, database, flat)
		})
	}
}

// changeAtRandom makes random changes, of which some fail.
func changeAtRandom(r *rand.Rand, v *folio.Volume, n int, links bool) {
	name := func() string {
		elems := make([]string, 1+r.IntN(3))
		for i := range elems {
			elems[i] = string(rune('a' + r.IntN(4)))
		}
		return strings.Join(elems, "/")
	}
	for range n {
		a, b := name(), name()
		switch r.IntN(12) {
		case 0, 1:
			_ = v.MkdirAll(a, 0o755)
		case 2, 3, 4:
			_ = v.WriteFile(a, bytes.Repeat([]byte(b), r.IntN(50_000)), 0o644)
		case 5:
			_ = v.Rename(a, b)
		case 6:
			_ = v.Remove(a)
		case 7:
			if r.IntN(4) == 0 {
				_ = v.RemoveAll(a)
			}
		case 8:
			if links {
				_ = v.Link(a, b)
			}
		case 9:
			_ = v.Symlink(b, a)
		case 10:
			_ = v.Chmod(a, fs.FileMode(0o400|r.IntN(0o400)))
		case 11:
			_ = v.Lchtimes(a, time.Unix(int64(r.IntN(1e9)), 0), time.Unix(int64(r.IntN(1e9)), int64(r.IntN(1e9))))
		}
	}
}

// TestOverlayExport exports what overlays show, and the volumes that keep their changes.
func TestOverlayExport(t *testing.T) {
	t.Parallel()
	base, dir := makeOverlayBase(t), t.TempDir()
	volume := makeOverlay(t, base, func(v *folio.Volume) error {
		return first(v.Remove("f"), v.WriteFile("d/new", []byte("new"), 0o644))
	})
	merged, archived := filepath.Join(dir, "merged"), filepath.Join(dir, "merged.tar")
	mustRun(t, "export", "-q", "--base", base, volume, merged)
	mustRun(t, "export", "-q", "--base", base, volume, archived)
	mustRun(t, "import", "-q", archived, archived+".folio")
	mustRun(t, "diff", "--attributes", "all", merged, archived+".folio:")
	if names := strings.Fields(mustRun(t, "find", archived+".folio", "--type", "f")); len(names) != 7 {
		t.Errorf("the overlay shows %q", names)
	}
	mustRun(t, "export", "-q", "--base", base, volume+":d", filepath.Join(dir, "part.zip"))

	mustRun(t, "snapshot", "create", volume, "one")
	mustRun(t, "rm", "-r", volume+":d")
	database, back := filepath.Join(dir, "one.agentfs"), filepath.Join(dir, "one.folio")
	mustRun(t, "export", "-q", "--base", base, volume+"@one", database)
	mustRun(t, "import", "-q", "--base", base, database, back)
	if diff := mustRun(t, "diff", back, archived+".folio"); diff != "" {
		t.Errorf("a snapshot of an overlay differs: %s", diff)
	}

	below := filepath.Join(dir, "below.folio")
	mustRun(t, "import", "-q", base, below)
	over := makeOverlay(t, below, func(v *folio.Volume) error { return v.Remove("f") })
	mustRun(t, "export", "-q", "--base", below, "--flat", over, filepath.Join(dir, "flat.agentfs"))
	for _, c := range []struct {
		want string
		args []string
	}{
		{": keeps only what an overlay has changed in " + base + "; --base TREE exports them with their base\n", []string{volume, "x.agentfs"}},
		{": is a part of an overlay, and AgentFS knows only whole ones; --flat exports the whole tree\n", []string{"--base", base, volume + ":e", "x.agentfs"}},
		{": is no directory on disk, and AgentFS knows no other base; --flat exports the whole tree\n", []string{"--base", below, over, "x.agentfs"}},
		{": keeps no changes of an overlay; leave out --base\n", []string{"--base", base, below, "x.agentfs"}},
		{": no such volume; a path in a volume is written VOLUME:PATH\n", []string{"--base", filepath.Join(dir, "none"), volume, "x.agentfs"}},
	} {
		c.args[len(c.args)-1] = filepath.Join(dir, c.args[len(c.args)-1])
		if code, _, stderr := runFolio(t, append([]string{"export"}, c.args...)...); code != 1 || !strings.HasSuffix(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit code %d, %s", c.args, code, stderr)
		}
	}
	code, _, stderr := runFolio(t, "export", "-q", volume, filepath.Join(dir, "raw.tar"))
	if code != exitOK || stderr != "folio: warning: "+volume+": keeps only what an overlay has changed in "+base+"; --base TREE exports what it shows\n" {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "x.agentfs")); err == nil {
		t.Error("an export that failed left a file")
	}
}
