package sqlitefile

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	"github.com/foliofs/folio/internal/format"
)

// TestBuildLockPage builds across the page that holds the bytes that SQLite locks. The pages below
// are never written, so the file is sparse; afterwards they are put on the freelist, which makes
// the database valid.
func TestBuildLockPage(t *testing.T) {
	t.Parallel()
	for _, size := range []int{4096, 65536} {
		for before := range 5 { // a row takes four pages of overflow
			t.Run(fmt.Sprint(size, "/", before), func(t *testing.T) {
				t.Parallel()
				testLockPage(t, size, before)
			})
		}
	}
}

// TestBuildEndsAtLockPage has its last page right before the lock page.
func TestBuildEndsAtLockPage(t *testing.T) {
	t.Parallel()
	const size = 65536
	o := &BuildOptions{PageSize: size, firstPage: format.LockPage(size) - 1, NoSync: true}
	path := build(t, o, []string{"CREATE TABLE t(a)"}, nil)
	freePages(t, path, size, o.firstPage)
	checkShell(t, path, "PRAGMA integrity_check; PRAGMA page_count; INSERT INTO t VALUES(1); PRAGMA integrity_check",
		fmt.Sprintf("ok\n%d\nok", format.LockPage(size)-1))
}

func testLockPage(t *testing.T, pageSize, before int) {
	lock := format.LockPage(pageSize)
	first := lock - uint32(before)
	o := &BuildOptions{PageSize: pageSize, firstPage: first, NoSync: true}
	if before == 0 {
		o.firstPage = lock - 1
	}
	long := pattern(before, 3*pageSize)
	path := build(t, o, []string{"CREATE TABLE t(id INTEGER PRIMARY KEY, a BLOB UNIQUE, b TEXT)"}, func(b *Builder) error {
		table := mustTable(b, "t")
		for i := range before {
			if err := table.Append(int64(i), nil, nil, "small"); err != nil {
				return err
			}
		}
		for i := range 10 {
			if err := table.Append(int64(10+i), nil, append(long, byte(i)), "large"); err != nil {
				return err
			}
		}
		return nil
	})
	freePages(t, path, pageSize, o.firstPage)
	checkShell(t, path, "PRAGMA integrity_check; SELECT count(*), sum(length(a)), count(DISTINCT a) FROM t; SELECT count(*) FROM t WHERE a > x'00'",
		fmt.Sprintf("ok\n%d|%d|10\n10", before+10, 10*(len(long)+1)))
}

// freePages puts the pages from 2 to the one before first on the freelist.
func freePages(t *testing.T, path string, pageSize int, first uint32) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	write := func(off int64, words ...uint32) {
		b := make([]byte, 0, 4*len(words))
		for _, w := range words {
			b = binary.BigEndian.AppendUint32(b, w)
		}
		if _, err := file.WriteAt(b, off); err != nil {
			t.Fatal(err)
		}
	}
	write(32, 2, first-2)
	leaves := uint32(pageSize/4 - 8)
	for trunk := uint32(2); trunk < first; {
		next := min(trunk+1+leaves, first)
		words := []uint32{next, next - trunk - 1}
		if next == first {
			words[0] = 0
		}
		for leaf := trunk + 1; leaf < next; leaf++ {
			words = append(words, leaf)
		}
		write(int64(trunk-1)*int64(pageSize), words...)
		trunk = next
	}
}
