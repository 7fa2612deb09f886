package billyfs_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/go-git/go-billy/v5/util"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/billyfs"
)

// A repository of git and its work tree are kept in one file.
func Example() {
	dir, err := os.MkdirTemp("", "folio")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	vol, err := folio.Open(filepath.Join(dir, "notes.folio"), &folio.Options{Create: true})
	if err != nil {
		log.Fatal(err)
	}
	defer vol.Close()

	files := billyfs.New(vol)
	dot, err := files.Chroot(git.GitDirName)
	if err != nil {
		log.Fatal(err)
	}
	repo, err := git.Init(filesystem.NewStorage(dot, cache.NewObjectLRUDefault()), files)
	if err != nil {
		log.Fatal(err)
	}
	if err := util.WriteFile(files, "notes/today.txt", []byte("a file in a file\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	tree, err := repo.Worktree()
	if err != nil {
		log.Fatal(err)
	}
	if _, err := tree.Add("notes"); err != nil {
		log.Fatal(err)
	}
	who := &object.Signature{Name: "A. Writer", Email: "writer@example.com", When: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}
	id, err := tree.Commit("start", &git.CommitOptions{Author: who})
	if err != nil {
		log.Fatal(err)
	}
	commit, err := repo.CommitObject(id)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(commit.Author.Name, commit.Message)
	fmt.Println(tree.Status())
	// Output:
	// A. Writer start
	//  <nil>
}
