package listing

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/value"
)

// Criteria select files: a file must meet all of them. The zero value is met by every file.
type Criteria struct {
	Name, Iname  Glob
	Types        FileTypes
	Sizes        SizeRange
	Newer, Older value.Instant // of the last change of the content
}

// NeedNode reports whether a name and a type are not enough to decide.
func (c *Criteria) NeedNode() bool {
	return c.Sizes.set || !c.Newer.IsZero() || !c.Older.IsZero()
}

// Meets judges a file. Its node is only looked at if NeedNode says so.
func (c *Criteria) Meets(e *Entry) bool {
	return c.Types.has(e.Mode) && c.Name.match(e.Name) && c.Iname.fold().match(strings.ToLower(e.Name)) &&
		(!c.NeedNode() || c.Sizes.has(e.Node.Size) && c.Newer.Before(e.Node.Mtime) && c.Older.After(e.Node.Mtime))
}

// A Glob is a flag: a pattern for names, in the syntax of Go's path.Match. An empty one matches
// every name.
type Glob string

// Set is the function of a flag.
func (g *Glob) Set(s string) error {
	if _, err := path.Match(s, ""); err != nil {
		return fmt.Errorf("%q is no pattern: *, ?, [a-z] and \\ are special in it", s)
	}
	*g = Glob(s)
	return nil
}

// fold returns the pattern for names in lower case.
func (g Glob) fold() Glob { return Glob(strings.ToLower(string(g))) }

func (g Glob) match(name string) bool {
	if g == "" {
		return true
	}
	ok, _ := path.Match(string(g), name)
	return ok
}

// Globs is a flag that may be given several times: a name matches if it matches one of them, or if
// there are none.
type Globs []Glob

func (g *Globs) Set(s string) error {
	var one Glob
	err := one.Set(s)
	*g = append(*g, one)
	return err
}

// Match reports whether a name matches.
func (g Globs) Match(name string) bool {
	return len(g) == 0 || slices.ContainsFunc(g, func(one Glob) bool { return one.match(name) })
}

// FileTypes is a flag: the letters of the types that are wanted, separated by commas. An empty one
// means all.
type FileTypes string

const typeLetters = "fdlpsbc"

func (t *FileTypes) Set(s string) error {
	for letter := range strings.SplitSeq(s, ",") {
		if len(letter) != 1 || !strings.Contains(typeLetters, letter) {
			return fmt.Errorf("%q is no type: f is a file, d a directory, l a symbolic link, p a fifo, s a socket, b and c are devices", letter)
		}
	}
	*t = FileTypes(s)
	return nil
}

func (t FileTypes) has(mode fs.FileMode) bool {
	letter := TypeOf(mode).letter
	if letter == '-' {
		letter = 'f'
	}
	return t == "" || strings.IndexByte(string(t), letter) >= 0
}

// A SizeRange is a flag that may be given twice: +10k is more than 10 KiB, -1M less than 1 MiB, and
// 512 just that.
type SizeRange struct {
	least, most int64
	set         bool
}

func (r *SizeRange) Set(s string) error {
	n, err := value.ParseSize(strings.TrimLeft(s, "+-"))
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

func (r *SizeRange) has(size int64) bool { return !r.set || r.least <= size && size <= r.most }

// An Order is how ls sorts the entries of a directory, which come sorted by name.
type Order struct {
	Time, Size, Reverse bool
}

// NeedNode reports whether names are not enough to sort by.
func (o *Order) NeedNode() bool { return o.Time || o.Size }

// Sort sorts the entries of a directory.
func (o *Order) Sort(entries []Entry) {
	switch {
	case o.Size:
		slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(b.Node.Size, a.Node.Size) })
	case o.Time:
		slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(b.Node.Mtime, a.Node.Mtime) })
	}
	if o.Reverse {
		slices.Reverse(entries)
	}
}
