package bench

import (
	"os"
	"testing"
)

// BenchmarkCold walks the Go sources, and reads them, when the system's caches hold nothing of
// them: a directory and a volume on the same disk. Only root may drop the caches.
func BenchmarkCold(b *testing.B) {
	t := goroot(b, "src")
	for _, c := range []struct {
		name string
		read bool
	}{{"walk", false}, {"read", true}} {
		want, err := walk(os.DirFS(t.dir), c.read)
		must(b, err)
		for _, s := range t.sides() {
			b.Run(c.name+"/"+s.name, func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					dropCaches(b)
					b.StartTimer()
					benchTree(b, s, c.read, want)
				}
			})
		}
	}
}

// benchTree opens a tree, walks it, and closes it.
func benchTree(b *testing.B, s side, read bool, want sum) {
	fsys, end, err := s.open()
	must(b, err)
	got, err := walk(fsys, read)
	must(b, err)
	must(b, end())
	if got != want {
		b.Fatalf("%+v, want %+v", got, want)
	}
}

// dropCaches empties the system's caches of pages, directories and inodes. It skips the benchmark
// if the process may not do that.
func dropCaches(b *testing.B) {
	b.Helper()
	synced(b)
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0); err != nil {
		b.Skipf("the system's caches cannot be dropped here: %v", err)
	}
}
