package serve

import (
	"io/fs"
	"net/http"
	"net/url"
	"strings"
)

// errTarget is the answer to a path that no client has a reason to send.
var errTarget = refuse(http.StatusBadRequest, "The path of the URL is not a plain path.")

// maxElements is how many elements a path has at most. Each costs a look at all before it.
const maxElements = 256

var errLong = refuse(http.StatusRequestURITooLong, "The path has too many elements.")

// checkTarget refuses paths of URLs that a proxy or a client may read in another way than this
// server: empty elements, "." and "..", encoded slashes and NULs.
func checkTarget(u *url.URL) error {
	escaped := strings.ToLower(u.EscapedPath())
	if u.Opaque != "" || !strings.HasPrefix(u.Path, "/") || strings.Contains(escaped, "%2f") || strings.Contains(escaped, "%00") {
		return errTarget
	}
	if strings.IndexByte(u.Path, 0) >= 0 {
		return errTarget
	}
	elements := strings.Split(u.Path[1:], "/")
	for i, e := range elements {
		if e == "." || e == ".." || e == "" && i < len(elements)-1 {
			return errTarget
		}
	}
	return nil
}

// find returns the place of a path behind the base, for example "/photos/a.jpg". The caller must
// release it.
func (c *call) find(target string) (*place, error) {
	if strings.Count(target, "/") > maxElements {
		return nil, errLong
	}
	p := &place{target: target, root: c.s.base, access: c.access(), name: ".", dir: strings.HasSuffix(target, "/")}
	if rest, ok := strings.CutPrefix(target, sharePath); ok {
		return c.findShare(p, rest)
	}
	if rest, ok := strings.CutPrefix(target, snapshotPath); ok {
		name, rest, _ := strings.Cut(rest, "/")
		p.snapshot, target = name, "/"+rest
		p.root += snapshotPath + url.PathEscape(name)
		if name == "" {
			return nil, fs.ErrNotExist
		}
	} else if target == "/-" || strings.HasPrefix(target, "/-/") {
		return nil, fs.ErrNotExist
	}
	target = strings.Trim(target, "/")
	if len(c.s.trees) == 1 {
		p.tree = c.s.trees[0]
	} else if target != "" {
		var name string
		name, target, _ = strings.Cut(target, "/")
		if p.tree = c.s.tree(name); p.tree == nil {
			return nil, fs.ErrNotExist
		}
		p.root += "/" + url.PathEscape(name)
	}
	if p.tree == nil {
		return p, nil
	}
	if target != "" {
		p.name = target
	}
	var err error
	p.within = p.tree.Dir
	p.vol, err = p.tree.acquire()
	c.tree = p.tree
	return p, err
}

// findIn finds a path from the URL of a tree. The caller must release the place.
func (c *call) findIn(root, name string) (*place, error) {
	root, err := url.PathUnescape(root)
	if err != nil || root != "" && !covers(c.s.base, root) {
		return nil, errTarget
	}
	target := strings.TrimSuffix(strings.TrimPrefix(root, c.s.base), "/") + "/" + name
	if err := checkTarget(&url.URL{Path: target}); err != nil {
		return nil, errTarget
	}
	return c.find(target)
}
