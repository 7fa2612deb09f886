package billyfs_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/billyfs"
	"github.com/foliofs/folio/adapter/internal/volumes"
)

// TestGit clones a repository into a volume with go-git, commits in it, and pushes. Then git itself
// must accept the volume, exported to disk, and the repository.
func TestGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Parallel()
	origin := newOrigin(t)
	vol := volumes.New(t)
	work := billyfs.New(vol)
	dot, err := work.Chroot(git.GitDirName)
	if err != nil {
		t.Fatal(err)
	}
	repo, err := git.Clone(filesystem.NewStorage(dot, cache.NewObjectLRUDefault()), work, &git.CloneOptions{URL: origin})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	mustBeClean(t, tree)

	commit(t, vol, tree)
	mustBeClean(t, tree)
	if err := repo.Push(&git.PushOptions{}); err != nil {
		t.Fatal(err)
	}

	disk := filepath.Join(t.TempDir(), "export")
	if err := os.CopyFS(disk, vol.FS()); err != nil {
		t.Fatal(err)
	}
	gitCommand(t, disk, "fsck", "--full", "--strict")
	gitCommand(t, origin, "fsck", "--full", "--strict")
	if got, want := gitCommand(t, disk, "log", "--format=%an: %s"), "Folio: change all sorts of things\nGit: second\nGit: first\n"; got != want {
		t.Errorf("git log is\n%swant\n%s", got, want)
	}
	if got := gitCommand(t, disk, "status", "--porcelain"); got != "" {
		t.Errorf("git status is\n%s", got)
	}
	if here, there := gitCommand(t, disk, "rev-parse", "HEAD"), gitCommand(t, origin, "rev-parse", "main"); here != there {
		t.Errorf("the last commit is %s; %s was pushed", here, there)
	}
	const files = "100644 file-000\n120000 link\n100755 renamed/script\n100644 sub/deep/new\n"
	out := gitCommand(t, origin, "ls-tree", "-r", "--format=%(objectmode) %(path)", "main", "file-000", "link", "renamed", "sub/deep/new", "gone")
	if out != files {
		t.Errorf("the commit has\n%swant\n%s", out, files)
	}
}

// newOrigin makes a repository with two commits, packed and loose objects, an executable file and a
// symbolic link, and a bare clone of it, whose path it returns.
func newOrigin(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "origin")
	write := func(name, text string, mode os.FileMode) {
		name = filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil {
			err = os.WriteFile(name, []byte(text), mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 200 {
		write(fmt.Sprintf("file-%03d", i), strings.Repeat(fmt.Sprintf("line %d\n", i), i), 0o644)
	}
	write("bin/script", "#!/bin/sh\n", 0o755)
	write("gone", "soon\n", 0o644)
	if err := os.Symlink("bin/../file-001", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	gitCommand(t, dir, "init", "-q", "-b", "main")
	gitCommand(t, dir, "add", ".")
	gitCommand(t, dir, "commit", "-q", "-m", "first")
	gitCommand(t, dir, "gc", "-q")
	write("file-000", "second\n", 0o644)
	gitCommand(t, dir, "commit", "-q", "-a", "-m", "second")
	bare := filepath.Join(t.TempDir(), "bare")
	gitCommand(t, dir, "clone", "-q", "--bare", ".", bare)
	return bare
}

// gitCommand runs git in a directory, without configuration from outside of it, and returns its
// output.
func gitCommand(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Git", "GIT_AUTHOR_EMAIL=git@example.com", "GIT_COMMITTER_NAME=Git", "GIT_COMMITTER_EMAIL=git@example.com")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

// commit changes the work tree of a volume, some of it in one transaction, and commits that.
func commit(t *testing.T, vol *folio.Volume, tree *git.Worktree) {
	t.Helper()
	err := vol.Update(context.Background(), func(tx *folio.Tx) error {
		w := billyfs.New(tx)
		f, err := w.Create("sub/deep/new")
		if err != nil {
			return err
		}
		if _, err := f.Write([]byte("new\n")); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		if err := w.Rename("bin/script", "renamed/script"); err != nil {
			return err
		}
		return w.Remove("gone")
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.AddWithOptions(&git.AddOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	who := &object.Signature{Name: "Folio", Email: "folio@example.com", When: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}
	if _, err := tree.Commit("change all sorts of things", &git.CommitOptions{Author: who}); err != nil {
		t.Fatal(err)
	}
}

// mustBeClean fails if go-git finds that the work tree differs from the last commit.
func mustBeClean(t *testing.T, tree *git.Worktree) {
	t.Helper()
	status, err := tree.Status()
	if err != nil {
		t.Fatal(err)
	}
	if !status.IsClean() {
		t.Errorf("the work tree has changes:\n%s", status)
	}
}
