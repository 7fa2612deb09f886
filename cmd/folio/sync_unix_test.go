//go:build linux || darwin

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/cmd/folio/internal/interrupt"
	"github.com/foliofs/folio/internal/must"
)

var (
	syncSeed   = flag.Uint64("sync.seed", 0, "seed of the trees that sync is tried on; 0 means a new one")
	syncRounds = flag.Int("sync.rounds", 12, "how many random changes of a tree are synced")
)

// A grove is a random tree on disk that changes at random. No two contents have the same time.
type grove struct {
	t    *testing.T
	r    *rand.Rand
	root string
	now  time.Time // of the latest content
}

func newGrove(t *testing.T, seed uint64) *grove {
	g := &grove{t: t, r: rand.New(rand.NewPCG(seed, 0)), root: filepath.Join(t.TempDir(), "src"), now: time.Unix(1e9, 0)}
	must.Do(g.t, os.Mkdir(g.root, 0o755))
	g.change(60)
	return g
}

// change does something to the tree, n times.
func (g *grove) change(n int) {
	for range n {
		dirs, others := g.paths()
		free := filepath.Join(pick(g.r, dirs), fmt.Sprintf("%c%c", 'a'+g.r.IntN(6), 'a'+g.r.IntN(6)))
		must.Do(g.t, os.RemoveAll(free)) // for something of another type, perhaps
		if all := append(others, dirs[1:]...); g.r.IntN(2) > 0 && len(all) > 0 {
			g.alter(pick(g.r, all), free)
		} else {
			g.make(free, others)
		}
	}
}

// paths returns all that is in the tree; its root comes first.
func (g *grove) paths() (dirs, others []string) {
	must.Do(g.t, filepath.WalkDir(g.root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		} else if err == nil {
			others = append(others, path)
		}
		return err
	}))
	return dirs, others
}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// make makes something at a free path.
func (g *grove) make(path string, others []string) {
	switch g.r.IntN(8) {
	case 0, 1:
		must.Do(g.t, os.Mkdir(path, 0o700|fs.FileMode(g.r.IntN(0o100))))
	case 2:
		must.Do(g.t, os.Symlink(strings.Repeat("x", 1+g.r.IntN(50)), path))
	case 3:
		must.Do(g.t, unix.Mkfifo(path, 0o600))
	case 4:
		if len(others) > 0 {
			_ = os.Link(pick(g.r, others), path) // unless that was just removed
		}
	default:
		g.write(path)
	}
}

// write gives a file a content of its own, sometimes with a hole, at a time of its own.
func (g *grove) write(path string) {
	content := bytes.Repeat([]byte{byte(g.r.Uint32())}, g.r.IntN(1<<g.r.IntN(18)))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	must.Do(g.t, err)
	_, err = f.WriteAt(content, int64(g.r.IntN(4)/3*g.r.IntN(3<<20)))
	must.Do(g.t, errors.Join(err, f.Close()))
	g.now = g.now.Add(time.Duration(1 + g.r.Int64N(1e10)))
	must.Do(g.t, os.Chtimes(path, g.now, g.now))
}

// alter changes what is there.
func (g *grove) alter(path, free string) {
	info, err := os.Lstat(path)
	if err != nil {
		return // it lay in what was removed
	}
	regular := info.Mode().IsRegular()
	switch g.r.IntN(6) {
	case 0:
		must.Do(g.t, os.RemoveAll(path))
	case 1:
		if !strings.HasPrefix(free, path) { // not into itself
			must.Do(g.t, os.Rename(path, free))
		}
	case 2:
		if regular || info.IsDir() {
			must.Do(g.t, os.Chmod(path, 0o700|fs.FileMode(g.r.IntN(0o100))))
		}
	case 3:
		if os.Geteuid() == 0 {
			must.Do(g.t, os.Lchown(path, g.r.IntN(100), g.r.IntN(100)))
		}
	case 4:
		if regular {
			_ = unix.Setxattr(path, "user.test", fmt.Appendf(nil, "%d", g.r.IntN(1000)), 0) // where the file system knows them
		}
	default:
		if regular {
			g.write(path)
		}
	}
}

// wantSame checks that the volume holds the tree, and nothing else.
func (g *grove) wantSame(volume string) {
	g.t.Helper()
	copied := filepath.Join(g.t.TempDir(), "copy")
	mustRun(g.t, "export", "-q", volume, copied)
	g.wantSameTree(copied)
	if got := mustRun(g.t, "check", volume); !strings.Contains(got, ": ok: ") {
		g.t.Fatal(got)
	}
}

func (g *grove) wantSameTree(copied string) {
	g.t.Helper()
	if err := compareTrees(g.root, copied); err != nil {
		g.t.Fatal(err)
	}
	compareContents(g.t, g.root, copied)
}

func seedOf(t *testing.T) uint64 {
	seed := *syncSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-sync.seed=%d", seed)
	return seed
}

// After each sync the volume is like the tree, hard links and extended attributes included, and a
// second one finds nothing to do.
func TestSyncRandom(t *testing.T) {
	t.Parallel()
	for i := range uint64(2) {
		g := newGrove(t, seedOf(t)+i)
		volume := filepath.Join(t.TempDir(), "v.folio")
		for range *syncRounds {
			mustRun(t, "sync", "--create", "--delete", g.root, volume)
			g.wantSame(volume)
			before := stamp(t, volume)
			if got := mustRun(t, "sync", "-qv", "--delete", g.root, volume); got != "" {
				t.Fatalf("a second sync: %s", got)
			}
			if got := mustRun(t, "sync", "-qv", "--delete", "--checksum", g.root, volume); got != "" {
				t.Fatalf("a sync of contents: %s", got)
			}
			if stamp(t, volume) != before {
				t.Fatal("a sync that found nothing to do has written")
			}
			g.change(1 + g.r.IntN(30))
		}
	}
}

// stamp is the volume's file, in short.
func stamp(t *testing.T, volume string) [sha256.Size]byte {
	t.Helper()
	p, err := os.ReadFile(volume)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(p)
}

// rsync and folio make the same of the same tree.
func TestSyncLikeRsync(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("rsync"); err != nil {
		t.Skip("no rsync to compare with:", err)
	}
	g := newGrove(t, seedOf(t))
	volume, disk := filepath.Join(t.TempDir(), "v.folio"), filepath.Join(t.TempDir(), "disk")
	for range *syncRounds {
		mustRun(t, "sync", "--create", "--delete", g.root, volume)
		out, err := exec.Command("rsync", "-a", "--delete", "--modify-window=-1", g.root+"/", disk).CombinedOutput()
		if err != nil {
			t.Fatalf("%v, %s", err, out)
		}
		copied := filepath.Join(t.TempDir(), "copy")
		mustRun(t, "export", "-q", volume, copied)
		wantLikeRsync(t, disk, copied)
		g.change(1 + g.r.IntN(30))
	}
}

// wantLikeRsync compares what rsync -a and sync made, hard links aside: rsync -a makes two files of
// one.
func wantLikeRsync(t *testing.T, disk, copied string) {
	t.Helper()
	a, err := look(disk)
	if err != nil {
		t.Fatal(err)
	}
	b, err := look(copied)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range a {
		y := b[name]
		x.same, y.same = "", ""
		if x != y {
			t.Fatalf("%s: rsync made %+v, folio %+v", name, x, y)
		}
	}
	if len(a) != len(b) {
		t.Fatalf("rsync made %d files, folio %d", len(a), len(b))
	}
	compareContents(t, disk, copied)
}

// A file that vanishes, or changes, while it is read is named, and stays in the volume as it was.
// The warning about a socket is the moment to change the tree: what comes before it was compared,
// but not read.
func TestSyncWhileSourceChanges(t *testing.T) {
	t.Parallel()
	const again = "changed while it was read; left as it was; sync again when it is at rest"
	tests := []struct {
		name   string
		change func(file string) error
		want   string
		link   bool // give it another name
		code   int
	}{
		{"vanishes", os.Remove, "vanished while it was read; left as it was", false, exitOK},
		{"is linked", os.Remove, "vanished while it was read; left as it was", true, exitFailure},
		{"grows", func(file string) error { return os.Truncate(file, 100) }, again, true, exitFailure},
		{"shrinks", func(file string) error { return os.Truncate(file, 1) }, again, true, exitFailure},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			src, volume := makeChanging(t, work), filepath.Join(work, "v.folio")
			file := filepath.Join(src, "a")
			if code, _, stderr := runFolio(t, "sync", "--create", src, volume); code != exitOK || stderr != "folio: warning: "+src+"/socket: a socket; left out\n" {
				t.Fatalf("exit code %d, %q", code, stderr)
			}
			err := os.Truncate(file, 3)
			if tt.link {
				err = errors.Join(err, os.Link(file, filepath.Join(src, "b")))
			}
			if err != nil {
				t.Fatal(err)
			}
			stderr := &hookWriter{hook: func() { _ = tt.change(file) }}
			code := run(t.Context(), []string{"sync", "--delete", src, volume}, nil, io.Discard, stderr)
			if code != tt.code || !strings.Contains(stderr.String(), "folio: warning: "+file+": "+tt.want+"\n") ||
				strings.Contains(stderr.String(), "/b: is another name of a file that could not be copied; left out; sync again\n") != tt.link {
				t.Errorf("exit code %d, %q", code, stderr)
			}
			if got := mustRun(t, "cat", volume+":a", volume+":other"); got != "contentcontent" {
				t.Errorf("a and other hold %q", got)
			}
		})
	}
}

// What cannot be read stays in the volume, even with --delete.
func TestSyncUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	work := t.TempDir()
	src, volume := filepath.Join(work, "src"), filepath.Join(work, "v.folio")
	if err := errors.Join(
		os.MkdirAll(filepath.Join(src, "d"), 0o700),
		os.WriteFile(filepath.Join(src, "d", "f"), []byte("content"), 0o600),
		os.WriteFile(filepath.Join(src, "g"), []byte("content"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "sync", "--create", src, volume)
	if err := errors.Join(os.Chmod(filepath.Join(src, "d"), 0), os.WriteFile(filepath.Join(src, "g"), nil, 0o600), os.Chmod(filepath.Join(src, "g"), 0)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(src, "d"), 0o700) })
	code, _, stderr := runFolio(t, "sync", "--delete", src, volume)
	if code != exitFailure || strings.Count(stderr, ": permission denied; left as it was\n") != 2 {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	if got := mustRun(t, "cat", volume+":d/f", volume+":g"); got != "contentcontent" {
		t.Errorf("the volume holds %q", got)
	}
}

// manyFiles makes more files than one transaction copies.
func manyFiles(t *testing.T) (src string) {
	t.Helper()
	src = filepath.Join(t.TempDir(), "src")
	for i := range 1500 {
		dir := filepath.Join(src, fmt.Sprintf("directory-%03d", i/100))
		if err := errors.Join(
			os.MkdirAll(dir, 0o700),
			os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%0100d", i)), bytes.Repeat([]byte{'a' + byte(i%26)}, 4096), 0o600),
		); err != nil {
			t.Fatal(err)
		}
	}
	return src
}

// wantPart checks that each file in a volume is whole, and that not all are there. Another sync
// makes it complete.
func wantPart(t *testing.T, src, volume string) {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy")
	mustRun(t, "export", "-q", volume, copied)
	compareContents(t, copied, src)
	if got := mustRun(t, "check", volume); !strings.Contains(got, ": ok: ") {
		t.Error(got)
	}
	if got := mustRun(t, "sync", src, volume); !strings.Contains(got, " new, ") {
		t.Errorf("the sync was complete: %s", got)
	}
	if got := mustRun(t, "sync", src, volume); !strings.HasPrefix(got, volume+": 1,515 unchanged, ") {
		t.Error(got)
	}
}

// An interrupted sync leaves whole files, and the next one does the rest.
func TestSyncIsInterrupted(t *testing.T) {
	t.Parallel()
	src, volume := manyFiles(t), filepath.Join(t.TempDir(), "v.folio")
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		_ = os.Remove(volume)
		ctx, cancel := context.WithCancelCause(t.Context())
		stdout := &hookWriter{hook: func() { cancel(&interrupt.Error{Signal: s}) }} // a buffer full of names was written
		var stderr bytes.Buffer
		code := run(ctx, []string{"sync", "--create", "-v", src, volume}, nil, stdout, &stderr)
		if code != 128+int(s) || stderr.String() != "folio: interrupted\n" {
			t.Errorf("%v: exit code %d, %q", s, code, stderr.String())
		}
		wantPart(t, src, volume)
	}
}

// So does a killed process.
func TestSyncIsKilled(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	src, volume := manyFiles(t), filepath.Join(t.TempDir(), "v.folio")
	cmd := &exec.Cmd{Path: self, Args: []string{"folio", "sync", "--create", "-v", src, volume}}
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stdout, make([]byte, 1)); err != nil { // a buffer full of names was written, and it waits for the rest to be read
		t.Error(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	wantPart(t, src, volume)
}
