package page

import (
	"fmt"
	"io"
	"testing"
)

// BenchmarkListing writes listings of directories of two sizes.
func BenchmarkListing(b *testing.B) {
	for _, n := range []int{100, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			list := make([]Entry, n)
			for i := range list {
				list[i] = Entry{Name: fmt.Sprintf("file %d.txt", i*7919%n), Size: int64(i), ModTime: noon}
			}
			p := New()
			for b.Loop() {
				d := &Directory{Frame: Frame{RootName: "r"}, Entries: append([]Entry(nil), list...), Writable: true, Order: Order{By: "name"}}
				if err := p.WriteDirectory(io.Discard, d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
