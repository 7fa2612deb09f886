package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A root is a directory as the root of a system in which there are no packages.
type root struct {
	format  string
	program string // that installs packages
	prepare func(ctx context.Context, dir string) error
	install func(dir, file string) []string // the arguments of program
	remove  func(dir string) []string
	own     []string // directories of the program itself, below the root
}

var debRoot = root{
	"deb", "dpkg",
	func(_ context.Context, dir string) error {
		admin := filepath.Join(dir, "var/lib/dpkg")
		return errors.Join(os.MkdirAll(filepath.Join(admin, "updates"), 0o755), os.MkdirAll(filepath.Join(admin, "info"), 0o755),
			os.WriteFile(filepath.Join(admin, "status"), nil, 0o644))
	},
	func(dir, file string) []string { return []string{"--root=" + dir, "--install", file} },
	func(dir string) []string { return []string{"--root=" + dir, "--purge", "folio"} },
	[]string{"var"},
}

var rpmRoot = root{
	"rpm", "rpm",
	func(ctx context.Context, dir string) error {
		_, err := output(ctx, ".", nil, "rpm", "--root="+dir, "--initdb")
		return err
	},
	func(dir, file string) []string { return []string{"--root=" + dir, "--nosignature", "--upgrade", file} },
	func(dir string) []string { return []string{"--root=" + dir, "--erase", "folio"} },
	[]string{"var", "root", "usr/lib"}, // where its database is depends on the distribution
}

// packaged installs a package over an older one in an empty root, uses it there, and removes it.
// Nothing may be left.
func packaged(ctx context.Context, r *release, work string, k root) error {
	if _, err := exec.LookPath(k.program); err != nil || os.Geteuid() != 0 || runtime.GOOS != "linux" {
		fmt.Printf("skipped: package of %s: not Linux, not root, or no %s\n", k.format, k.program)
		return nil
	}
	t := target{runtime.GOOS, runtime.GOARCH}
	older := *r
	older.dist = filepath.Join(work, "older-"+k.format)
	if err := os.MkdirAll(older.dist, 0o755); err != nil {
		return err
	}
	const old = "0.0.1"
	if err := older.writePackages(t, filepath.Join(r.staging, t.system+"_"+t.arch, "folio"), old); err != nil {
		return err
	}
	dir := filepath.Join(work, "root-"+k.format)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := k.prepare(ctx, dir); err != nil {
		return err
	}
	before := k.files(dir)
	for _, file := range []string{
		filepath.Join(older.dist, "folio_"+old+"_"+t.system+"_"+t.arch+"."+k.format), filepath.Join(r.dist, r.fileName(t)+"."+k.format),
	} {
		if _, err := output(ctx, work, nil, k.program, k.install(dir, file)...); err != nil {
			return err
		}
	}
	if err := useInstalled(ctx, r, dir); err != nil {
		return err
	}
	if _, err := output(ctx, work, nil, k.program, k.remove(dir)...); err != nil {
		return err
	}
	if after := k.files(dir); !slices.Equal(before, after) {
		return fmt.Errorf("the package has left files: %q, before it %q", after, before)
	}
	return nil
}

// files returns the files in a root, without the files of the program that installs.
func (k root) files(dir string) (names []string) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if err != nil || slices.ContainsFunc(k.own, func(own string) bool { return name == own }) {
			return filepath.SkipDir
		}
		if !d.IsDir() {
			names = append(names, name)
		}
		return nil
	})
	return names
}

// useInstalled runs the command in a root, where nothing else is: no libraries, no shell, no home.
// There it makes a volume and mounts it, if this system has FUSE. The man page is shown and the
// completion loaded by programs of this system, if it has them.
func useInstalled(ctx context.Context, r *release, dir string) (err error) {
	for _, name := range []string{"dev", "tmp", "mnt"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	defer func() {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, "tmp")), os.RemoveAll(filepath.Join(dir, "dev")), os.Remove(filepath.Join(dir, "mnt")))
	}()
	folio := func(args ...string) (string, error) {
		return output(ctx, "/", []string{"HOME="}, "chroot", append([]string{dir, "/usr/bin/folio"}, args...)...)
	}
	if said, err := folio("--version"); err != nil || !strings.HasPrefix(said, "folio "+r.version+" ") {
		return fmt.Errorf("folio --version says %q: %w", said, err)
	}
	if err := errors.Join(second(folio("create", "/tmp/v.folio")), second(folio("put", "/usr/share/doc/folio/copyright", "/tmp/v.folio"))); err != nil {
		return err
	}
	if said, err := folio("cat", "/tmp/v.folio:copyright"); err != nil || !strings.Contains(said, "Permission is hereby granted") {
		return fmt.Errorf("folio cat says %q: %w", said, err)
	}
	if _, err := folio("mount", "/tmp/v.folio", "/mnt"); err == nil || !strings.Contains(err.Error(), "/dev/fuse") || strings.Count(err.Error(), "\n") > 1 {
		return fmt.Errorf("folio mount without FUSE: %w", err)
	}
	if err := mountInstalled(ctx, dir, folio); err != nil {
		return err
	}
	if _, err := exec.LookPath("man"); err == nil {
		page := filepath.Join(dir, "usr/share/man/man1/folio-import.1.gz")
		if said, err := output(ctx, dir, []string{"MANPAGER=cat", "MANWIDTH=80"}, "man", page); err != nil || !strings.Contains(said, "folio import") {
			return fmt.Errorf("man folio-import says %q: %w", said, err)
		}
	} else {
		fmt.Println("skipped: the man pages: no man")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		fmt.Println("skipped: the completion of bash: no bash")
		return nil
	}
	script := `source "$1/usr/share/bash-completion/completions/folio" && complete -p folio && "$1/usr/bin/folio" __complete impor`
	if said, err := output(ctx, dir, nil, "bash", "-c", script, "bash", dir); err != nil || !strings.Contains(said, "__start_folio") || !strings.Contains(said, "import\t") {
		return fmt.Errorf("the completion of bash says %q: %w", said, err)
	}
	return nil
}

func second(_ string, err error) error { return err }

// mountInstalled mounts the volume in the root, and reads a file there.
func mountInstalled(ctx context.Context, dir string, folio func(args ...string) (string, error)) error {
	if f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		fmt.Println("skipped: a mount by the package: no /dev/fuse")
		return nil
	} else if err := f.Close(); err != nil {
		return err
	}
	for _, device := range [][]string{{"dev/fuse", "c", "10", "229"}, {"dev/null", "c", "1", "3"}} {
		if err := second(output(ctx, dir, nil, "mknod", append([]string{filepath.Join(dir, device[0])}, device[1:]...)...)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "proc"), 0o755); err != nil {
		return err
	}
	if err := second(output(ctx, dir, nil, "mount", "-t", "proc", "proc", filepath.Join(dir, "proc"))); err != nil {
		return err
	}
	defer func() {
		_, _ = output(context.WithoutCancel(ctx), "/", nil, "umount", filepath.Join(dir, "proc"))
		_ = os.Remove(filepath.Join(dir, "proc"))
	}()
	if _, err := folio("mount", "--background", "/tmp/v.folio", "/mnt"); err != nil {
		return err
	}
	_, readErr := os.ReadFile(filepath.Join(dir, "mnt", "copyright"))
	_, err := folio("unmount", "/mnt")
	return errors.Join(readErr, err)
}
