package native

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/repair"
	"github.com/foliofs/folio/sqlitefile"
)

var (
	checkFiles = flag.Int64("check.files", 100_000, "how many files the volume of TestCheckMemory has")
	checkSeed  = flag.Uint64("check.seed", uint64(time.Now().UnixNano()), "seed of TestWindows")
)

// setWindow lets Check look at so many inodes at once until the test ends.
func setWindow(t *testing.T, size int) {
	old := repair.WindowSize
	repair.WindowSize = func(int64) int { return size }
	t.Cleanup(func() { repair.WindowSize = old })
}

// makeTree makes a volume of directories with so many files in each of them, some of them with two
// names.
func makeTree(t *testing.T, path string, dirs, files int64) {
	t.Helper()
	must.Do(t, Create(context.Background(), path, new(CreateOptions), func(b *Builder) error {
		root := store.Node{Ino: 1, Mode: store.ModeDir | 0o755, Nlink: uint32(2 + dirs)}
		err := b.Node(&root)
		for d := range dirs {
			dir := store.Node{Ino: store.Ino(2 + d*(files+1)), Mode: store.ModeDir | 0o755, Nlink: 2}
			err = errors.Join(err, b.Node(&dir))
			for f := range files {
				file := store.Node{Ino: dir.Ino + store.Ino(1+f), Mode: store.ModeRegular | 0o644, Nlink: 1, Size: 4}
				err = errors.Join(err, b.Node(&file))
			}
		}
		for d := range dirs {
			err = errors.Join(err, b.Entry(1, store.Entry{Name: fmt.Sprintf("d%09d", d), Ino: store.Ino(2 + d*(files+1)), Type: store.Dir}))
		}
		for d := range dirs {
			dir := store.Ino(2 + d*(files+1))
			for f := range files {
				_, written := b.Bytes(dir+store.Ino(1+f), []byte("text"))
				e := store.Entry{Name: fmt.Sprintf("f%09d", f), Ino: dir + store.Ino(1+f), Type: store.File}
				err = errors.Join(err, written, b.Entry(dir, e))
			}
			err = errors.Join(err, b.Xattr(dir, store.Xattr{Name: "user.a", Value: []byte("value")}))
		}
		return err
	}))
}

// TestWindows damages volumes at random. Check must find the same whether it looks at all inodes at
// once or at a few at a time. Counts of directories may differ if types contradict each other.
func TestWindows(t *testing.T) {
	t.Logf("seed %d", *checkSeed)
	r := rand.New(rand.NewPCG(*checkSeed, 1))
	for range 30 {
		path := filepath.Join(t.TempDir(), "tree.folio")
		makeTree(t, path, 5, 6)
		damageRows(t, path, r)
		s, err := Open(path, &Options{ReadOnly: true})
		if err != nil {
			continue // its tables are damaged
		}
		setWindow(t, 1<<20)
		want, err := s.Check(context.Background(), nil)
		must.Do(t, err)
		for _, size := range []int{1, 2, 7} {
			setWindow(t, size)
			got, err := s.Check(context.Background(), nil)
			must.Do(t, err)
			if a, b := problems(got), problems(want); !slices.Equal(a, b) || got.OK() != want.OK() {
				t.Errorf("windows of %d:\n%q, want\n%q", size, a, b)
			}
			if have, should := counts(got), counts(want); have != should {
				t.Errorf("windows of %d: counted %d, want %d", size, have, should)
			}
		}
		must.Do(t, s.Close())
	}
}

func counts(r *store.Report) [5]int64 {
	return [5]int64{r.Nodes, r.Entries, r.Chunks, r.Xattrs, r.Bytes}
}

// problems returns the problems of a report, sorted, apart from links.
func problems(r *store.Report) (list []string) {
	for _, p := range r.Problems {
		if !strings.HasPrefix(p.What, "nlink is") {
			list = append(list, fmt.Sprint(p.Ino, " ", p.What))
		}
	}
	slices.Sort(list)
	return list
}

// damageRows changes a few numbers and names.
func damageRows(t *testing.T, path string, r *rand.Rand) {
	t.Helper()
	db, err := sqlitefile.Open(path, nil)
	must.Do(t, err)
	odd := func() int64 {
		return []int64{-1 << 62, -1 << 35, -5, 0, 1, 2, 3, 8, 17, 40, 1 << 35, 1<<35 - 1, 1 << 62}[r.IntN(13)]
	}
	must.Do(t, db.Update(context.Background(), func(tx *sqlitefile.Tx) error {
		node, err1 := tx.Table("node")
		entry, err2 := tx.Table("entry")
		data, err3 := tx.Table("data")
		xattr, err4 := tx.Table("xattr")
		orphan, err5 := tx.Table("orphan")
		err := errors.Join(err1, err2, err3, err4, err5)
		for range 1 + r.IntN(6) {
			switch ino := odd(); r.IntN(7) {
			case 0:
				mode := []int{store.ModeDir, store.ModeRegular, store.ModeSymlink, 0}[r.IntN(4)]
				err = errors.Join(err, node.Put(ino, ino, mode, 1, 0, 0, r.IntN(10), 0, 0, 0, 0, 0))
			case 1:
				err = errors.Join(err, entry.PutKey(odd(), fmt.Sprint("name", r.IntN(5)), ino, 1+r.IntN(2)))
			case 2:
				id := ino
				if r.IntN(2) == 0 {
					id = ino << store.ChunkBits
				}
				err = errors.Join(err, data.Put(id, id, []byte("bytes")))
			case 3:
				err = errors.Join(err, xattr.PutKey(ino, "user.b", []byte("b")))
			case 4:
				err = errors.Join(err, orphan.Put(ino, ino))
			case 5:
				_, err2 := node.Delete(ino)
				err = errors.Join(err, err2)
			case 6:
				err = errors.Join(err, xattr.PutKey([]any{nil, 2.5, "text", []byte("blob")}[1+r.IntN(3)], "user.c", []byte("c")))
			}
		}
		return err
	}))
	must.Do(t, db.Close())
}

// TestCheckMemory checks a volume that is larger than its windows: Check takes memory for one
// window, not for the volume. The test is not parallel, because other tests would allocate
// meanwhile.
func TestCheckMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.folio")
	const inDir = 1000
	makeTree(t, path, *checkFiles/inDir, inDir)
	if *checkFiles <= 100_000 {
		setWindow(t, 10_000)
	}
	s, err := Open(path, nil)
	must.Do(t, err)
	defer s.Close()
	start := time.Now()
	size := allocated(func() {
		r, err := s.Check(context.Background(), nil)
		if err != nil || !r.OK() || r.Nodes != *checkFiles+*checkFiles/inDir+1 {
			t.Errorf("Check: %+v, %v", r, err)
		}
	})
	t.Logf("%d files: %d bytes allocated, %v%s", *checkFiles, size, time.Since(start), anonymous())
	if limit := uint64(4<<20 + *checkFiles*13); size > limit {
		t.Errorf("Check of %d files allocates %d bytes, want at most %d", *checkFiles, size, limit)
	}
}

// anonymous returns the memory of the process as the system reports it, with and without mapped
// files, on systems that report it.
func anonymous() (s string) {
	status, _ := os.ReadFile("/proc/self/status")
	for _, m := range regexp.MustCompile(`(?m)^(RssAnon|RssFile|VmHWM):.*$`).FindAll(status, -1) {
		s += ", " + string(m)
	}
	return s
}
