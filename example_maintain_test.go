package folio_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/foliofs/folio"
)

// A program that watches a volume learns of the changes of all processes.
func ExampleVolume_Changes() {
	vol := memoryVolume()
	defer vol.Close()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { // another goroutine, or another process, writes
		defer close(done)
		for ctx.Err() == nil {
			check(vol.WriteFile("new", nil, 0o644))
		}
	}()
	for _, err := range vol.Changes(ctx) {
		check(err)
		fmt.Println(fs.Glob(vol.FS(), "n*"))
		break
	}
	cancel()
	<-done
	// Output: [new] <nil>
}

// A backup is a volume like this one, at one moment. Readers and writers go on meanwhile.
func ExampleVolume_Backup() {
	vol := memoryVolume()
	defer vol.Close()
	var file bytes.Buffer
	check(vol.Backup(context.Background(), &file))

	backup, err := folio.OpenReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	check(err)
	defer backup.Close()
	data, err := backup.ReadFile("drafts/2026/a.md")
	fmt.Printf("%q %v\n", data, err)
	// Output: "# A\n" <nil>
}

// BackupFile writes a file that appears complete and synced, or not at all.
func ExampleVolume_BackupFile() {
	dir, err := os.MkdirTemp("", "folio")
	check(err)
	defer os.RemoveAll(dir)
	vol := memoryVolume()
	defer vol.Close()
	copied := false
	check(vol.BackupFile(context.Background(), filepath.Join(dir, "copy.folio"), &folio.BackupOptions{
		Progress: func(done, total int64) { copied = done == total },
	}))
	fmt.Println(copied)
	// Output: true
}

// Compact gives the room of removed files back to the system.
func ExampleVolume_Compact() {
	vol := memoryVolume()
	defer vol.Close()
	ctx := context.Background()
	check(vol.WriteFile("large", bytes.Repeat([]byte("x"), 10<<20), 0o644))
	check(vol.Remove("large"))
	before, err := vol.Info(ctx)
	check(err)
	check(vol.Compact(ctx, nil))
	after, err := vol.Info(ctx)
	check(err)
	fmt.Println(after.Size < before.Size/10)
	// Output: true
}

// Check reads the whole volume and reports each contradiction.
func ExampleVolume_Check() {
	vol := memoryVolume()
	defer vol.Close()
	report, err := vol.Check(context.Background(), nil)
	check(err)
	for _, p := range report.Problems {
		fmt.Println(p.Path, p.What)
	}
	fmt.Println(report.OK(), report.Entries, "names,", report.Bytes, "bytes")
	// Output: true 4 names, 16 bytes
}

// Stats tells how much work a volume has done.
func ExampleVolume_Stats() {
	vol := memoryVolume()
	defer vol.Close()
	s := vol.Stats()
	fmt.Println(s.Changes >= 3, s.Pinned)
	// Output: true 0
}
