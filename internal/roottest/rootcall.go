//go:build unix

package roottest

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
)

// rootCall returns a call in a directory that was opened as a world of its own, or opens one. They
// stay open when they are moved or removed.
func rootCall(r *rand.Rand) call {
	i := r.IntN(3)
	switch r.IntN(12) {
	case 0, 1:
		return openRootCall(r, i)
	case 2:
		return in(i, call{"Close", func(s *side) string { return s.fail(s.Close()) }, false})
	}
	ways := [...]func(r *rand.Rand) call{nameCall, nameCall, nodeCall, viewCall}
	for {
		// MkdirAll leaves different directories when it fails. In a removed directory the two sides
		// check at different times whether a name is possible at all.
		c := ways[r.IntN(len(ways))](r)
		if !strings.HasPrefix(c.name, "MkdirAll") && !strings.Contains(c.name, tooLong) && !strings.Contains(c.name, `\x00`) {
			return in(i, c)
		}
	}
}

// in lets a call be made in a directory.
func in(i int, c call) call {
	return call{fmt.Sprintf("root %d: %s", i, c.name), func(s *side) string {
		if s.roots[i] == nil {
			return "none"
		}
		return c.do(s.roots[i])
	}, false}
}

func openRootCall(r *rand.Rand, i int) call {
	name := name(r)
	return call{fmt.Sprintf("root %d = OpenRoot(%q)", i, name), func(s *side) string {
		if s.roots[i] != nil {
			_ = s.roots[i].Close()
			s.roots[i] = nil
		}
		f, err := s.Sub(name)
		if err != nil {
			return reasonOf(err) // which may name the directory as a whole
		}
		f.Xattrs = nil // os.Root's go by the directory's path
		s.roots[i] = &side{FS: f, handles: new(handles)}
		return "ok"
	}, false}
}

// viewCall returns a call by way of package io/fs. Errors are compared by their reasons, as its
// functions name them in their own ways.
func viewCall(r *rand.Rand) call {
	name, way := name(r), r.IntN(8)
	switch r.IntN(6) {
	case 0:
		name = "."
	case 1:
		name += "/*" // mostly for Glob
	}
	return read(func(s *side) string {
		got, err := s.view(name, way)
		if err != nil {
			got += " " + reasonOf(err)
		}
		return got
	}, "io/fs, way %d: %q", way, name)
}

func (s *side) view(name string, way int) (string, error) {
	f := s.View()
	switch way {
	case 0:
		return s.describeInfo(fs.Stat(f, name))
	case 1:
		return s.describeInfo(fs.Lstat(f, name))
	case 2:
		return fs.ReadLink(f, name)
	case 3:
		p, err := fs.ReadFile(f, name)
		return Hash(p), err
	case 4:
		list, err := fs.Glob(f, name)
		return strings.Join(list, " "), err
	case 5:
		return s.viewDir(f, name)
	case 6:
		return viewTree(f, name)
	}
	file, err := f.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := s.describeInfo(file.Stat())
	if err != nil {
		return info, err
	}
	p, err := io.ReadAll(file)
	return info + Hash(p), err
}

func (s *side) describeInfo(info fs.FileInfo, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return s.info(info), nil
}

func (s *side) viewDir(f fs.FS, name string) (string, error) {
	list, err := fs.ReadDir(f, name)
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintln(&b, fs.FormatDirEntry(e), s.stat(e.Info()))
	}
	return b.String(), err
}

// viewTree walks a tree, past some directories.
func viewTree(f fs.FS, top string) (string, error) {
	var b strings.Builder
	err := fs.WalkDir(f, top, func(name string, d fs.DirEntry, err error) error {
		fmt.Fprintln(&b, name, d != nil && d.IsDir())
		if err != nil {
			fmt.Fprintln(&b, reasonOf(err))
		}
		if err != nil || strings.HasSuffix(name, "d") {
			return fs.SkipDir
		}
		return nil
	})
	return b.String(), err
}
