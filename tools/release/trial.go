package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/module"
)

// useless is a home in which nothing can be made.
func (u *user) useless() string { return filepath.Join(os.DevNull, "home") }

// use makes a volume with a command, without a home that can be written, and looks into it. The
// command says what it was built from.
func (u *user) use(ctx context.Context, folio, version, commit string) error {
	run := func(args ...string) (string, error) {
		return output(ctx, u.home, append([]string{"HOME=" + u.useless()}, u.env...), folio, args...)
	}
	said, err := run("version")
	for _, want := range []string{"version  " + version + "\n", "commit   " + commit + "\n"} {
		if err != nil || !strings.Contains(said, want) {
			return fmt.Errorf("folio version says %q, want %q: %w", said, want, err)
		}
	}
	volume := filepath.Join(u.home, "v.folio")
	if _, err := run("import", "-f", filepath.Join(u.release.source, "docs", "reference"), volume); err != nil {
		return err
	}
	if said, err = run("ls", volume); err != nil || !strings.Contains(said, "format.md") {
		return fmt.Errorf("folio ls says %q: %w", said, err)
	}
	if err := u.refuseLater(volume, run); err != nil {
		return err
	}
	return os.Remove(volume)
}

// refuseLater makes the format of a volume a later one, and looks that the command refuses it in
// one line and leaves it as it is.
func (u *user) refuseLater(volume string, run func(args ...string) (string, error)) error {
	content, err := os.ReadFile(volume)
	if err != nil {
		return err
	}
	const format = 63 // the last byte of user_version in the header of a SQLite database
	content[format] = 99
	if err := os.WriteFile(volume, content, 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"ls", volume}, {"rm", volume + ":format.md"}} {
		_, err := run(args...)
		if err == nil || !strings.Contains(err.Error(), "made by a newer Folio; update to open it: its user_version is 99") || strings.Count(err.Error(), "\n") > 1 {
			return fmt.Errorf("folio %s of a volume of a later format: %w", args[0], err)
		}
	}
	after, err := os.ReadFile(volume)
	if err == nil && !bytes.Equal(content, after) {
		err = errors.New("folio has changed a volume of a later format")
	}
	return err
}

// installUntagged installs a commit without a tag over the release, from a proxy as it serves such
// a commit, and then the release again.
func (u *user) installUntagged(ctx context.Context) error {
	commit := u.release.commit[:12]
	untagged := *u.release
	untagged.dist = filepath.Join(filepath.Dir(u.home), "untagged")
	untagged.version = module.PseudoVersion("", "", u.release.made, commit)
	if err := untagged.writeProxy(); err != nil {
		return err
	}
	versions := filepath.Join(untagged.proxy(), filepath.FromSlash(modulePath), "@v")
	info, err := os.ReadFile(filepath.Join(versions, untagged.version+".info"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(versions, u.release.commit+".info"), info, 0o644); err != nil {
		return err
	}
	from := "GOPROXY=file://" + filepath.ToSlash(untagged.proxy()) + ",off"
	if _, err := output(ctx, u.home, append(u.env, from), "go", "install", modulePath+"/cmd/folio@"+u.release.commit); err != nil {
		return err
	}
	if err := u.use(ctx, u.binary(), untagged.version, commit); err != nil {
		return err
	}
	return u.installCommand(ctx)
}

// oldGo is a version of Go that is too old for the module.
const oldGo = "go1.25.0"

// installByOldGo lets a Go that is too old install the command. It must say which one is needed.
func (u *user) installByOldGo(ctx context.Context) error {
	root, err := output(ctx, ".", []string{"GOTOOLCHAIN=" + oldGo, "GOFLAGS="}, "go", "env", "GOROOT")
	if err != nil {
		fmt.Printf("skipped: an old Go: there is no %s\n", oldGo)
		return nil
	}
	_, err = u.run(ctx, u.home, filepath.Join(root, "bin", "go"), "install", modulePath+"/cmd/folio@"+u.release.version)
	if err == nil || !strings.Contains(err.Error(), "requires go >= 1.26") {
		return fmt.Errorf("%s says: %w", oldGo, err)
	}
	return nil
}

// binary is the command that go install installs.
func (u *user) binary() string {
	return filepath.Join(u.bin, "folio"+map[string]string{"windows": ".exe"}[runtime.GOOS])
}
