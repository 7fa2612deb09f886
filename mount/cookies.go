//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"sort"
	"sync"

	"github.com/foliofs/folio/internal/store"
)

// cookies are the places in directories that the kernel was told of. A place is a number: for the
// kernel, and for telldir(3), it stands for all that comes after one name. Numbers of a directory
// count up. A reader that reads a directory again gets the same numbers, as long as the names are
// the same.
type cookies struct {
	mu   sync.Mutex // guards dirs
	dirs map[store.Ino]*dirCookies
}

// A dirCookies holds the names of the places of a directory, one after the other.
type dirCookies struct {
	names []byte
	ends  []uint32
}

func (c *cookies) init() { c.dirs = make(map[store.Ino]*dirCookies) }

// The first places of each directory: before ".", before "..", and before the first name.
const (
	cookieStart  = 0
	cookieDot    = 1
	cookieDotDot = 2
)

// after returns the name after which a place is. ok is false if there is no such place.
func (c *cookies) after(dir store.Ino, cookie uint64) (name string, ok bool) {
	if cookie <= cookieDotDot {
		return "", true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.dirs[dir]
	if d == nil || cookie-cookieDotDot > uint64(len(d.ends)) {
		return "", false
	}
	return d.name(int(cookie - cookieDotDot - 1)), true
}

// next returns the place after a name, which comes next after another place.
func (c *cookies) next(dir store.Ino, cookie uint64, name string) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.dirs[dir]
	if d == nil {
		d = new(dirCookies)
		c.dirs[dir] = d
	}
	i := int(max(cookie, cookieDotDot) - cookieDotDot)
	if i < len(d.ends) && d.name(i) == name {
		return uint64(i) + cookieDotDot + 1
	}
	if i < len(d.ends) { // the names have changed: perhaps there is a place for it further on
		if j := i + sort.Search(min(len(d.ends)-i, nearby), func(k int) bool { return d.name(i+k) >= name }); j < len(d.ends) && d.name(j) == name {
			return uint64(j) + cookieDotDot + 1
		}
	}
	d.names = append(d.names, name...)
	d.ends = append(d.ends, uint32(len(d.names)))
	return uint64(len(d.ends)) + cookieDotDot
}

// nearby is how far next looks for a place.
const nearby = 1 << 10

func (d *dirCookies) name(i int) string {
	start := uint32(0)
	if i > 0 {
		start = d.ends[i-1]
	}
	return string(d.names[start:d.ends[i]])
}

// forget drops the places of a directory.
func (c *cookies) forget(dir store.Ino) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.dirs, dir)
}
