package folio_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"strings"

	"github.com/foliofs/folio"
)

// memoryVolume makes a volume in memory with a few files.
func memoryVolume() *folio.Volume {
	vol, err := folio.OpenMemory(nil)
	check(err)
	check(vol.MkdirAll("drafts/2026", 0o755))
	check(vol.WriteFile("drafts/2026/a.md", []byte("# A\n"), 0o644))
	check(vol.WriteFile("drafts/2026/b.md", []byte("# B, longer\n"), 0o644))
	return vol
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Two renames are one change: readers see both or neither.
func ExampleTx_Rename() {
	vol := memoryVolume()
	defer vol.Close()
	check(vol.Update(context.Background(), func(tx *folio.Tx) error {
		return errors.Join(tx.Rename("drafts/2026", "posts"), tx.Rename("posts/a.md", "posts/index.md"))
	}))
	fmt.Println(fs.Glob(vol.FS(), "posts/*"))
	// Output: [posts/b.md posts/index.md] <nil>
}

// A clone of a tree shares the contents with the original until one of the two changes.
func ExampleVolume_Clone() {
	vol := memoryVolume()
	defer vol.Close()
	check(vol.Clone("drafts", "try"))
	check(vol.WriteFile("try/2026/a.md", []byte("# Another A\n"), 0o644))
	for _, name := range []string{"drafts/2026/a.md", "try/2026/a.md", "try/2026/b.md"} {
		text, err := vol.ReadFile(name)
		check(err)
		fmt.Printf("%s: %s", name, text)
	}
	// Output:
	// drafts/2026/a.md: # A
	// try/2026/a.md: # Another A
	// try/2026/b.md: # B, longer
}

// If the function of Update returns an error, nothing has happened.
func ExampleVolume_Update_rollback() {
	vol := memoryVolume()
	defer vol.Close()
	err := vol.Update(context.Background(), func(tx *folio.Tx) error {
		check(tx.RemoveAll("drafts"))
		return errors.New("changed my mind")
	})
	fmt.Println(err)
	fmt.Println(fs.Glob(vol.FS(), "drafts/2026/*"))
	// Output:
	// changed my mind
	// [drafts/2026/a.md drafts/2026/b.md] <nil>
}

// A file that is replaced has the old content until the new one is complete.
func ExampleVolume_WriteFrom() {
	vol := memoryVolume()
	defer vol.Close()
	upload := strings.NewReader(strings.Repeat("0123456789", 300_000))
	size, err := vol.WriteFrom("upload.bin", upload, 0o644)
	fmt.Println(size, err)
	// Output: 3000000 <nil>
}

// A temporary file gets its final name when it is complete.
func ExampleVolume_CreateTemp() {
	vol := memoryVolume()
	defer vol.Close()
	f, err := vol.CreateTemp("drafts", "new-*.md")
	check(err)
	name := f.Name()
	_, err = f.Write([]byte("# New\n"))
	check(errors.Join(err, f.Close(), vol.Rename(name, "drafts/new.md")))
	data, err := vol.ReadFile("drafts/new.md")
	fmt.Printf("%q %v\n", data, err)
	// Output: "# New\n" <nil>
}

func ExampleVolume_CopyFile() {
	vol := memoryVolume()
	defer vol.Close()
	check(vol.CopyFile("drafts/2026/a.md", "copy.md"))
	data, err := vol.ReadFile("copy.md")
	fmt.Printf("%q %v\n", data, err)
	// Output: "# A\n" <nil>
}

// A lock file: only one goroutine or process can make it.
func ExampleVolume_OpenFile_lock() {
	vol := memoryVolume()
	defer vol.Close()
	lock := func() (unlock func() error, err error) {
		f, err := vol.OpenFile("lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, err
		}
		return func() error { return errors.Join(f.Close(), vol.Remove("lock")) }, nil
	}
	unlock, err := lock()
	check(err)
	_, err = lock()
	fmt.Println("locked:", errors.Is(err, fs.ErrExist))
	check(unlock())
	unlock, err = lock()
	fmt.Println("again:", err)
	check(unlock())
	// Output:
	// locked: true
	// again: <nil>
}

// A Root is for names that are not trusted: none of them leads out of the directory.
func ExampleVolume_OpenRoot() {
	vol := memoryVolume()
	defer vol.Close()
	root, err := vol.OpenRoot("drafts")
	check(err)
	defer root.Close()
	data, err := root.ReadFile("2026/a.md")
	fmt.Printf("%q %v\n", data, err)
	_, err = root.ReadFile("../secret")
	fmt.Println(errors.Is(err, folio.ErrEscapes))
	// Output:
	// "# A\n" <nil>
	// true
}

// A file is read and written at offsets, as one of the operating system.
func ExampleFile_WriteAt() {
	vol := memoryVolume()
	defer vol.Close()
	f, err := vol.Create("table")
	check(err)
	defer f.Close()
	_, err = f.WriteAt([]byte("end"), 1<<30) // all before it is a hole, which takes no room
	check(err)
	info, err := f.Stat()
	check(err)
	node := info.Sys().(*folio.Node)
	fmt.Println(info.Size(), node.Size-node.Holes < 1<<20)
	// Output: 1073741827 true
}

// Extended attributes belong to a file, not to a name.
func ExampleVolume_SetXattr() {
	vol := memoryVolume()
	defer vol.Close()
	check(vol.SetXattr("drafts/2026/a.md", "user.author", []byte("ada")))
	check(vol.Rename("drafts/2026/a.md", "a.md"))
	attrs, err := vol.Xattrs("a.md")
	fmt.Printf("%s %v\n", attrs["user.author"], err)
	// Output: ada <nil>
}

// Add makes a file with owner, times and attributes in one step, as a program that copies a tree
// needs it.
func ExampleTx_Add() {
	vol := memoryVolume()
	defer vol.Close()
	check(vol.Update(context.Background(), func(tx *folio.Tx) error {
		return tx.Add(&folio.Header{Name: "bin", Mode: 0o755, UID: 1000, GID: 1000}, strings.NewReader("#!/bin/sh\n"))
	}))
	info, err := vol.Stat("bin")
	check(err)
	fmt.Println(info.Mode(), info.Size(), info.Sys().(*folio.Node).UID)
	// Output: -rwxr-xr-x 10 1000
}
