package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// rehearse makes the release again with empty caches, compares both, and installs it in each way.
func rehearse(ctx context.Context, first *release, work string) error {
	u, err := newUser(ctx, filepath.Join(work, "user"), first)
	if err != nil {
		return err
	}
	again, err := newRelease(ctx, first.version, first.commit, filepath.Join(work, "a second place"))
	if err != nil {
		return err
	}
	again.targets, again.env = first.targets, []string{"GOCACHE=" + u.cache, "GOMODCACHE=" + u.modules}
	for _, s := range []struct {
		name string
		do   func() error
	}{
		{"go install, with empty caches", func() error { return u.installCommand(ctx) }},
		{"go install of a commit, over the release", func() error { return u.installUntagged(ctx) }},
		{"go install by an old Go", func() error { return u.installByOldGo(ctx) }},
		{"go get of the library, a program", func() error { return u.buildProgram(ctx, library) }},
		{"go get of mount, a program", func() error { return u.buildProgram(ctx, mounting) }},
		{"the archive: unpack, first result", func() error { return u.unpack(ctx) }},
		{"deb: install, upgrade, use, remove", func() error { return packaged(ctx, first, work, debRoot) }},
		{"rpm: install, upgrade, use, remove", func() error { return packaged(ctx, first, work, rpmRoot) }},
		{"make the files again", func() error { return again.make(ctx) }},
		{"compare both", func() error { return compare(first.dist, again.dist) }},
	} {
		if err := step(s.name, s.do); err != nil {
			return err
		}
	}
	return nil
}

// compare compares two directories of files, whose checksums are in them.
func compare(a, b string) error {
	first, err := os.ReadFile(filepath.Join(a, "SHA256SUMS"))
	if err != nil {
		return err
	}
	second, err := os.ReadFile(filepath.Join(b, "SHA256SUMS"))
	if err != nil {
		return err
	}
	names := map[string]int{} // lines of a file, 2 if both are the same
	for _, sums := range [][]byte{first, second} {
		for line := range strings.Lines(string(sums)) {
			names[line]++
		}
	}
	var different []string
	for line, n := range names {
		if n != 2 {
			different = append(different, line)
		}
	}
	slices.Sort(different)
	if len(different) > 0 || len(names) == 0 {
		return fmt.Errorf("two runs have made different files:\n%s", strings.Join(different, ""))
	}
	fmt.Printf("two runs have made the same %d files\n", len(names))
	return nil
}

// A user has an empty home, empty caches, Go but no other program, such as git or a C compiler, and
// a proxy that serves the module.
type user struct {
	release *release
	home    string
	bin     string // where go install puts commands
	modules string // the module cache
	cache   string // the build cache
	env     []string
}

func newUser(ctx context.Context, dir string, r *release) (*user, error) {
	proxy, err := output(ctx, ".", nil, "go", "env", "GOPROXY")
	if err != nil {
		return nil, err
	}
	root, err := output(ctx, ".", nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	u := &user{
		release: r, home: filepath.Join(dir, "home"), bin: filepath.Join(dir, "bin"), modules: filepath.Join(dir, "modules"), cache: filepath.Join(dir, "cache"),
	}
	u.env = []string{
		"HOME=" + u.home, "GOPATH=" + filepath.Join(dir, "go"), "GOBIN=" + u.bin, "GOMODCACHE=" + u.modules,
		"GOCACHE=" + u.cache, "GOPROXY=file://" + filepath.ToSlash(r.proxy()) + "," + proxy,
		"GONOSUMDB=" + modulePath, "GOFLAGS=-trimpath", "CGO_ENABLED=0", "GOWORK=off", "GOTOOLCHAIN=local", "GOENV=off", "PATH=" + filepath.Join(root, "bin"),
	}
	return u, os.MkdirAll(u.home, 0o755)
}

func (u *user) run(ctx context.Context, dir, name string, args ...string) (string, error) {
	return output(ctx, dir, u.env, name, args...)
}

// installCommand installs the command by its version, and uses it.
func (u *user) installCommand(ctx context.Context) error {
	if _, err := u.run(ctx, u.home, "go", "install", modulePath+"/cmd/folio@"+u.release.version); err != nil {
		return err
	}
	return u.use(ctx, u.binary(), u.release.version, "not noted by the build")
}

// unpack unpacks the archive for this system, and uses the command in it.
func (u *user) unpack(ctx context.Context) error {
	t := target{runtime.GOOS, runtime.GOARCH}
	name := u.release.fileName(t)
	if _, err := os.Stat(filepath.Join(u.release.dist, name+".tar.gz")); err != nil {
		fmt.Println("skipped: no archive for this system among the targets")
		return nil
	}
	if _, err := output(ctx, u.home, nil, "tar", "-xzf", filepath.Join(u.release.dist, name+".tar.gz")); err != nil {
		return err
	}
	return u.use(ctx, filepath.Join(u.home, name, "folio"), u.release.version, u.release.commit)
}

// A program is one of somebody who uses a package.
type program struct {
	pkg     string // below the module
	source  string
	foreign int // modules of others that are compiled
	sums    int // lines of its go.sum; 0 is not looked at
}

var library = program{"", `package main

import (
	"context"
	"fmt"
	"io/fs"
	"log"

	"github.com/foliofs/folio"
)

func main() {
	vol, err := folio.Open("site.folio", &folio.Options{Create: true})
	if err != nil {
		log.Fatal(err)
	}
	err = vol.Update(context.Background(), func(tx *folio.Tx) error { return tx.WriteFile("a.html", []byte("hello"), 0o644) })
	if err != nil {
		log.Fatal(err)
	}
	content, err := fs.ReadFile(vol.FS(), "a.html")
	if err != nil {
		log.Fatal(err)
	}
	if err := vol.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(content))
}
`, 1, 4}

var mounting = program{"/mount", `package main

import (
	"fmt"
	"log"
	"os"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/mount"
)

func main() {
	vol, err := folio.Open("mounted.folio", &folio.Options{Create: true})
	if err != nil {
		log.Fatal(err)
	}
	if err := vol.WriteFile("a.html", []byte("hello"), 0o644); err != nil {
		log.Fatal(err)
	}
	if err := os.MkdirAll("mnt", 0o755); err != nil {
		log.Fatal(err)
	}
	server, err := mount.Mount(vol, "mnt", nil)
	if err != nil {
		log.Print(err) // no FUSE here
		fmt.Println("hello")
		return
	}
	content, err := os.ReadFile("mnt/a.html")
	if err != nil {
		log.Print(err)
	}
	if err := server.Unmount(); err != nil {
		log.Fatal(err)
	}
	if err := vol.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(content))
}
`, 2, 0}

// buildProgram makes a new module with a program, lets go get its imports, and runs it.
func (u *user) buildProgram(ctx context.Context, p program) error {
	dir := filepath.Join(u.home, "program"+strings.ReplaceAll(p.pkg, "/", "-"))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(p.source), 0o644); err != nil {
		return err
	}
	for _, line := range [][]string{
		{"mod", "init", "example.com/program"}, {"get", modulePath + p.pkg + "@" + u.release.version}, {"build", "-o", "program", "."},
	} {
		if _, err := u.run(ctx, dir, "go", line...); err != nil {
			return err
		}
	}
	said, err := u.run(ctx, dir, filepath.Join(dir, "program"))
	if err != nil || said != "hello" {
		return fmt.Errorf("the program says %q: %w", said, err)
	}
	listed, err := u.run(ctx, dir, "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	if err != nil {
		return err
	}
	foreign := map[string]bool{}
	for _, path := range strings.Fields(listed) {
		if path != modulePath && path != "example.com/program" {
			foreign[path] = true
		}
	}
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		return err
	}
	lines := bytes.Count(sums, []byte("\n"))
	fmt.Printf("a program with %s: %d lines of go.sum, compiles %d modules of others\n", modulePath+p.pkg, lines, len(foreign))
	if len(foreign) != p.foreign || p.sums != 0 && lines != p.sums {
		return fmt.Errorf("want %d lines, and %d modules", p.sums, p.foreign)
	}
	return nil
}
