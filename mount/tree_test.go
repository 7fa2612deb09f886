//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

var (
	treeGoroot = flag.Bool("tree.goroot", false, "TestTree takes all of the Go distribution, not only package net")
	treeFiles  = flag.Int("tree.files", 2000, "how many files TestTree has in its nested node_modules")
)

// TestTree copies trees into a mount as programs do, compares everything, and removes it. Nothing
// may be left.
func TestTree(t *testing.T) {
	for _, tt := range []struct{ name, copy string }{
		{"tar", `tar --format=posix -C "$1" -cf - . | tar -C "$2" -xpf -`},
		{"modules", `cp -a "$1/." "$2"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			source := t.TempDir()
			if tt.name == "tar" {
				source = goSources(t)
			} else {
				nodeModules(t, source, *treeFiles)
			}
			d := startDaemon(t, newVolume(t))
			tree := d.path("tree")
			must.Do(t, os.Mkdir(tree, 0o755))
			start := time.Now()
			sh := func(script string) {
				t.Helper()
				if out, err := d.run(30*time.Minute, "sh", "-c", script, "sh", source, tree); err != nil {
					t.Fatalf("%s: %v\n%s", script, err, out)
				}
			}
			sh(tt.copy)
			want := describeTree(t, source)
			if diff := difference(describeTree(t, tree), want); diff != "" {
				t.Errorf("the mount shows %s", diff)
			}
			d.stop() // what follows comes from the volume, not from caches of the kernel
			d.start()
			if diff := difference(describeTree(t, tree), want); diff != "" {
				t.Errorf("mounted again, it shows %s", diff)
			}
			sh(`rm -rf "$2"`)
			if left, err := os.ReadDir(d.dir); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
			d.stop()
			checkVolume(t, d.volume)
			checkEmpty(t, d.volume)
			t.Logf("%d files in %v", len(want), time.Since(start))
		})
	}
}

// checkEmpty fails the test unless a volume has no content.
func checkEmpty(t *testing.T, volume string) {
	t.Helper()
	vol, err := folio.Open(volume, nil)
	must.Do(t, err)
	defer vol.Close()
	info, err := vol.Info(context.Background())
	must.Do(t, err)
	if used := info.Size - info.FreeBytes; used > 64<<10 {
		t.Errorf("%d bytes are in use", used)
	}
}

// goSources returns a directory of the Go distribution.
func goSources(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("go is not there")
	}
	dir := strings.TrimSpace(string(out))
	if !*treeGoroot {
		dir = filepath.Join(dir, "src", "net")
	}
	return dir
}

// nodeModules makes a tree of so many small files, as npm leaves one: packages in packages, with
// symbolic links to their programs and hard links to files that several have.
func nodeModules(t *testing.T, dir string, files int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	dirs := []string{dir}
	for made := 0; made < files; {
		parent := dirs[rng.IntN(len(dirs))]
		name := fmt.Sprintf("package-%d", made)
		p := filepath.Join(parent, "node_modules", name)
		must.Do(t, os.MkdirAll(filepath.Join(p, "lib"), 0o755))
		must.Do(t, os.MkdirAll(filepath.Join(parent, "node_modules", ".bin"), 0o755))
		if strings.Count(p, "/node_modules/") < 6 {
			dirs = append(dirs, p)
		}
		for i := range 1 + rng.IntN(20) {
			path := filepath.Join(p, "lib", fmt.Sprintf("file%d.js", i))
			text := strings.Repeat(fmt.Sprintf("module.exports = %d;\n", rng.IntN(1000)), rng.IntN(100))
			must.Do(t, os.WriteFile(path, []byte(text), 0o644))
			made++
		}
		must.Do(t, os.WriteFile(filepath.Join(p, "cli.js"), []byte("#!/usr/bin/env node\n"), 0o755))
		must.Do(t, os.Symlink("../"+name+"/cli.js", filepath.Join(parent, "node_modules", ".bin", name)))
		must.Do(t, os.Link(filepath.Join(p, "cli.js"), filepath.Join(p, "linked.js")))
		made += 2
	}
}

// describeTree returns all that a tree has, by names. Two names of one file say so.
func describeTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	first := make(map[uint64]string) // names of files that have several
	must.Do(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		st := info.Sys().(*syscall.Stat_t)
		text := fmt.Sprintf("%v %d:%d %d", info.Mode(), st.Uid, st.Gid, info.ModTime().UnixNano())
		switch {
		case info.Mode().IsRegular():
			content, err := readAll(path)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(" %d %x", info.Size(), sha256.Sum256([]byte(content)))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " -> " + target
		}
		if !info.IsDir() && st.Nlink > 1 {
			if first[st.Ino] == "" {
				first[st.Ino] = name
			}
			text += fmt.Sprintf(" %d names, the first is %s", st.Nlink, first[st.Ino])
		}
		all[name] = text
		return nil
	}))
	return all
}
