package main

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Criteria say which files are wanted: those that meet all of them. The zero value is met by every
// file.
type criteria struct {
	name, iname  glob
	types        fileTypes
	sizes        sizeRange
	newer, older instant // of the last change of the content
}

// needNode reports whether a name and a type are not enough to decide.
func (c *criteria) needNode() bool {
	return c.sizes.set || !c.newer.IsZero() || !c.older.IsZero()
}

// meets judges a file. Its node is only looked at if needNode says so.
func (c *criteria) meets(e *entry) bool {
	return c.types.has(e.mode) && c.name.match(e.name) && c.iname.fold().match(strings.ToLower(e.name)) &&
		(!c.needNode() || c.sizes.has(e.node.Size) && c.newer.before(e.node.Mtime) && c.older.after(e.node.Mtime))
}

// A glob is a flag: a pattern for names, in the syntax of Go's path.Match. An empty one matches
// every name.
type glob string

// Set is the function of a flag.
func (g *glob) Set(s string) error {
	if _, err := path.Match(s, ""); err != nil {
		return fmt.Errorf("%q is no pattern: *, ?, [a-z] and \\ are special in it", s)
	}
	*g = glob(s)
	return nil
}

// fold returns the pattern for names in lower case.
func (g glob) fold() glob { return glob(strings.ToLower(string(g))) }

func (g glob) match(name string) bool {
	if g == "" {
		return true
	}
	ok, _ := path.Match(string(g), name)
	return ok
}

// globs is a flag that may be given several times: a name matches if it matches one of them, or if
// there are none.
type globs []glob

func (g *globs) Set(s string) error {
	var one glob
	err := one.Set(s)
	*g = append(*g, one)
	return err
}

func (g globs) match(name string) bool {
	return len(g) == 0 || slices.ContainsFunc(g, func(one glob) bool { return one.match(name) })
}

// fileTypes is a flag: the letters of the types that are wanted, separated by commas. An empty one
// means all.
type fileTypes string

const typeLetters = "fdlpsbc"

func (t *fileTypes) Set(s string) error {
	for letter := range strings.SplitSeq(s, ",") {
		if len(letter) != 1 || !strings.Contains(typeLetters, letter) {
			return fmt.Errorf("%q is no type: f is a file, d a directory, l a symbolic link, p a fifo, s a socket, b and c are devices", letter)
		}
	}
	*t = fileTypes(s)
	return nil
}

func (t fileTypes) has(mode fs.FileMode) bool {
	letter := typeOf(mode).letter
	if letter == '-' {
		letter = 'f'
	}
	return t == "" || strings.IndexByte(string(t), letter) >= 0
}

// A sizeRange is a flag that may be given twice: +10k is more than 10 KiB, -1M less than 1 MiB, and
// 512 just that.
type sizeRange struct {
	least, most int64
	set         bool
}

func (r *sizeRange) Set(s string) error {
	n, err := parseSize(strings.TrimLeft(s, "+-"))
	if err != nil || strings.LastIndexAny(s, "+-") > 0 {
		return fmt.Errorf("%q is no size: write +10k for more than 10 KiB, -1M for less than 1 MiB, or just a size", s)
	}
	if !r.set {
		r.least, r.most = 0, 1<<63-1
	}
	if s[0] != '-' {
		r.least = n + b2i64(s[0] == '+')
	}
	if s[0] != '+' {
		r.most = n - b2i64(s[0] == '-')
	}
	r.set = true
	return nil
}

func b2i64(b bool) int64 { return int64(b2i(b)) }

func (r *sizeRange) has(size int64) bool { return !r.set || r.least <= size && size <= r.most }
