package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/internal/must"
)

// linkedNames are paths in a tree of hard and symbolic links. d is a directory; f, g, d/g and d/h
// are regular files; l, k, x and z are symbolic links to a file, the same file, nothing and the
// directory.
var linkedNames = []string{"f", "g", "d/g", "d/h", "l", "m", "k", "d/l", "x", "y", "z", "w", "d", "z/g", "z/l", "none", "."}

// linkTree makes the tree of linkedNames.
func linkTree(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "d"), 0o755); err != nil {
		return err
	}
	for i, name := range []string{"f", "d/h"} {
		if err := os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, "%d", i), 0o644-fs.FileMode(i)); err != nil {
			return err
		}
	}
	for _, link := range [][2]string{{"f", "l"}, {"f", "k"}, {"none", "x"}, {"d", "z"}} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			return err
		}
	}
	for _, link := range [][2]string{{"f", "g"}, {"f", "d/g"}, {"l", "m"}, {"l", "d/l"}, {"x", "y"}, {"z", "w"}} {
		if err := os.Link(filepath.Join(dir, link[0]), filepath.Join(dir, link[1])); err != nil {
			return err
		}
	}
	for i, name := range []string{"f", "d/h", "l", "k", "x", "z", "d", "."} {
		at := []unix.Timespec{unix.NsecToTimespec(int64(1e9+i) * 1e9), unix.NsecToTimespec(int64(1e9+i%3) * 1e9)}
		if err := unix.UtimesNanoAt(unix.AT_FDCWD, filepath.Join(dir, name), at, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
	}
	return nil
}

// newLinkPair is a pair of the tree of linkedNames. The function that it returns restores both
// sides.
func newLinkPair(t *testing.T) (*pair, func()) {
	p := newPair(t, rand.New(rand.NewPCG(1, 1)))
	must.Do(p, linkTree(p.dir))
	mustRun(t, "import", "-qf", p.dir, p.volume)
	volume, err := os.ReadFile(p.volume)
	must.Do(p, err)
	return p, func() {
		must.Do(p, os.RemoveAll(p.dir), linkTree(p.dir), os.WriteFile(p.volume, volume, 0o644))
	}
}

// linkCommands are commands with flags, to which two names of linkedNames come.
var linkCommands = []string{
	"cp", "cp -r", "cp -a", "cp -p", "cp -n", "cp -rn", "cp -an", "cp -f", "cp -rf", "cp -u", "cp -ru", "cp -au", "cp -un", "cp -T", "cp -rT", "cp -aT", "cp -anT",
	"mv", "mv -n", "mv -f", "mv -T", "mv -nT", "ln", "ln -f", "ln -T", "ln -fT", "ln -s", "ln -sf", "ln -sfT",
}

// linkOperations returns each command with each two of the names, and each copy out of the volume.
func linkOperations() (all []*operation) {
	for _, command := range linkCommands {
		for _, from := range linkedNames {
			for _, to := range linkedNames {
				if command == "mv -nT" && from == "none" {
					continue // GNU does not look at the source if the destination exists
				}
				o := linkOperation(command, from, to)
				if strings.HasPrefix(command, "ln -s") {
					if o.args[len(o.args)-2].kind = word; targetElsewhere(to) {
						continue
					}
				}
				all = append(all, o)
			}
			if !strings.HasPrefix(command, "cp") {
				continue
			}
			if command == "cp -au" && from == "." {
				continue // GNU replaces even a newer file by a hard link to another copy
			}
			for _, to := range []string{"", "new", "new/", "d", "d/", "f", "f/", "none/x", "tofile", "tofile/", "todir", "todir/", "tonone", "tonone/"} {
				o := linkOperation(command, from, to)
				o.out, o.args[len(o.args)-1].kind = true, inScratch
				all = append(all, o)
			}
		}
	}
	return all
}

// targetElsewhere reports whether a symbolic link comes to lie in another directory than that of
// the command. GNU ln looks for its target from there, and refuses to replace a file that it finds
// by chance; folio looks from the directory of the link.
func targetElsewhere(link string) bool {
	return strings.Contains(link, "/") || link == "d" || link == "z" || link == "w"
}

func linkOperation(command, from, to string) *operation {
	o := new(operation)
	for _, text := range strings.Fields(command) {
		o.args = append(o.args, argument{text, word})
	}
	o.args = append(o.args, argument{from, inTree}, argument{to, inTree})
	return o
}

// TestLinksLikeCoreutils runs commands on files that are the same one in some way, next to those of
// coreutils. All of them:
//
//	go -C cmd/folio test -run TestLinksLikeCoreutils -coreutils.ops 20000 -timeout 1h
func TestLinksLikeCoreutils(t *testing.T) {
	t.Parallel()
	needCoreutils(t)
	p, restore := newLinkPair(t)
	all := linkOperations()
	r := rand.New(rand.NewPCG(coreutilsSeedOf(t), 0))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, o := range all[:min(len(all), *coreutilsOps)] {
		if p.absurd(o) {
			continue
		}
		if p.same(o) && o.succeeded {
			if d := difference(p.lines(p.readVolume()), p.lines(p.readDir(p.dir))); d != "" {
				t.Errorf("%s\n%s", o, d)
			}
		}
		restore()
	}
}

// absurd reports whether GNU does something with an operation that folio does not copy:
//
//   - An entry of a directory has two paths, such as a/x and l/x, where l is a symbolic link to a.
//     GNU cp and ln compare the directories without following the link, take the entry for two
//     files, and do nothing. folio says that it is the same file.
//   - The destination is a symbolic link on the way to a source, such as cp -rT l/x l. GNU cp
//     removes the link, and then finds no source. folio has read it by then; its ln is like their
//     cp.
//   - A directory is copied to itself after another one, such as cp -rn a . . at the root. GNU cp
//     says that it would come to lie in itself. To folio, nothing is left to do, as to GNU without
//     the a.
func (p *pair) absurd(op *operation) bool {
	last := op.args[len(op.args)-1]
	if last.kind != inTree {
		return false
	}
	before := 0 // sources
	for _, a := range op.args[:len(op.args)-1] {
		if a.kind != inTree {
			continue
		}
		if before++; before > 1 && location.SameFile(filepath.Join(p.dir, a.text), filepath.Join(p.dir, last.text)) {
			return true
		}
		if strings.HasPrefix(path.Clean(a.text), path.Clean(last.text)+"/") && !p.direct(a.text) {
			return true
		}
		for _, to := range []string{last.text, path.Join(last.text, path.Base(a.text))} {
			if p.entry(a.text) == p.entry(to) && !(p.direct(a.text) && p.direct(to)) {
				return true
			}
		}
	}
	return false
}

// entry returns a path in the directory on disk with the symbolic links on its way resolved.
func (p *pair) entry(name string) string {
	name = filepath.Join(p.dir, name)
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return name
	}
	return filepath.Join(dir, filepath.Base(name))
}

// direct reports whether no symbolic link is on the way to a path in the directory on disk.
func (p *pair) direct(name string) bool { return p.entry(name) == filepath.Join(p.dir, name) }
