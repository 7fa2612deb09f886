package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A seen is what is compared of a file: all that a round trip keeps.
type seen struct {
	mode   fs.FileMode
	mtime  int64
	size   int64 // not of directories
	target string
	same   string // the first name in the tree of a file that has several there; "" for that one
	system string // what only some systems know
}

// look returns what is in a tree, by path.
func look(root string) (map[string]seen, error) {
	all := make(map[string]seen)
	first := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		s := seen{mode: info.Mode(), mtime: info.ModTime().UnixNano()}
		var id string
		s.system, id = lookSystem(path, info)
		if info.Mode().IsRegular() {
			s.size = info.Size()
		}
		if id != "" && !info.IsDir() {
			if s.same = first[id]; s.same == "" {
				first[id] = rel
			}
		}
		if info.Mode().Type() == fs.ModeSymlink {
			s.target, err = os.Readlink(path)
		}
		all[rel] = s
		return err
	})
	return all, err
}

// compareTrees compares all but contents.
func compareTrees(a, b string) error {
	inA, err := look(a)
	if err != nil {
		return err
	}
	inB, err := look(b)
	if err != nil {
		return err
	}
	for name, x := range inA {
		y, ok := inB[name]
		if !ok {
			return fmt.Errorf("%s: not in %s", name, b)
		}
		if x != y {
			return fmt.Errorf("%s: %+v in %s, %+v in %s", name, x, a, y, b)
		}
	}
	if len(inA) != len(inB) {
		return fmt.Errorf("%d files in %s, %d in %s", len(inA), a, len(inB), b)
	}
	return nil
}
