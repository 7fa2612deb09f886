// Command release makes all files of a release of Folio from a commit, and rehearses how they are
// installed.
//
//	go -C tools run ./release -version v0.1.0 -out dist
//	go -C tools run ./release -version v0.1.0 -rehearse
//
// It works on clones of the commit, which it tags there; the repository itself is left alone. The
// files are binaries in archives with completions, man pages and the notices of licenses, packages
// for Debian and for RPM, a list of components (SBOM) for each binary, the module as a proxy serves
// it, and SHA256SUMS. They are the same bytes each time, wherever they are made.
//
// A rehearsal makes them twice, the second time with empty caches, and compares them. It installs
// the command by "go install" and the library by "go get" in an empty environment, and the packages
// in empty roots, uses the programs there, and removes the packages again.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	version := flag.String("version", "v0.1.0", "the version, a tag of the form v1.2.3")
	commit := flag.String("commit", "HEAD", "the commit to release")
	out := flag.String("out", "", "a directory for the files; it must not be there")
	rehearsing := flag.Bool("rehearse", false, "make the files twice, install them and use them")
	systems := flag.String("targets", strings.Join(allTargets, ","), "the systems to build for, as OS/ARCH")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *version, *commit, *out, *systems, *rehearsing); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, version, commit, out, systems string, rehearsing bool) (err error) {
	if flag.NArg() > 0 || out == "" && !rehearsing {
		return errors.New("give -out DIRECTORY, or -rehearse")
	}
	targets, err := parseTargets(systems)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "folio-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeAll(work)) }()
	r, err := newRelease(ctx, version, commit, filepath.Join(work, "first"))
	if err != nil {
		return err
	}
	r.targets = targets
	if err := step("make the files", func() error { return r.make(ctx) }); err != nil {
		return err
	}
	if rehearsing {
		if err := rehearse(ctx, r, work); err != nil {
			return err
		}
	}
	if out == "" {
		return nil
	}
	if _, err := os.Lstat(out); err == nil {
		return fmt.Errorf("%s is there already", out)
	}
	return os.CopyFS(out, os.DirFS(r.dist))
}

// step does a part of the work, and says how long it took.
func step(name string, do func() error) error {
	begun := time.Now()
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Printf("%-50s %6.1f s\n", name, time.Since(begun).Seconds())
	return nil
}

// removeAll removes a directory, also one with a module cache, whose files are read-only.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		return err
	})
	return os.RemoveAll(dir)
}
