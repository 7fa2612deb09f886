package runner

import (
	"context"
	"errors"
	"fmt"
	gobuild "go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// ownGraph are contenders that are built by a go.mod of their own, also if no version is chosen:
// other contenders would raise the version of the SQLite that their library was published with.
var ownGraph = []string{"glebarez", "gorm", "zombiezen"}

// pin writes a go.mod with which the program in dir gets the version of its library that s names,
// or the one in the module's go.mod, and returns its path. That file requires only the modules that
// the program imports. So the library's version also selects the versions of its dependencies, and
// no other contender can raise them.
func (b *builder) pin(ctx context.Context, dir string, s Spec) (path string, err error) {
	mod, root, library, err := requirements(dir)
	if err != nil {
		return "", err
	}
	if library == "" {
		return "", errors.New("it drives no library of which there could be another version")
	}
	version := s.Version
	if r := providing(mod.Require, library); version == "" && r != nil {
		version = r.Mod.Version
	}
	if version == "" {
		return "", fmt.Errorf("choose a version, as %s@latest", s.Name)
	}
	path = filepath.Join(b.dir(), "mod", s.program()+".mod")
	if err := writeModFile(path, mod, filepath.Join(root, "go.sum")); err != nil {
		return "", err
	}
	return path, GoTool(ctx, dir, nil, "get", "-modfile="+path, library+"@"+version)
}

// requirements returns a go.mod that requires only the modules that the program in dir imports, the
// root of its module, and the contender's library; "" if it drives none.
func requirements(dir string) (mod *modfile.File, root, library string, err error) {
	if root, err = moduleRoot(dir); err != nil {
		return nil, "", "", err
	}
	original, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, "", "", err
	}
	if mod, err = modfile.Parse("go.mod", original, nil); err != nil {
		return nil, "", "", err
	}
	imports, err := importsOf(dir, root, mod.Module.Mod.Path)
	if err != nil {
		return nil, "", "", err
	}
	return mod, root, requireOnly(mod, imports), nil
}

// moduleRoot returns the directory of the go.mod that dir belongs to.
func moduleRoot(dir string) (string, error) {
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the contender")
		}
		dir = parent
	}
}

// importsOf returns the packages of other modules that the program in dir imports, itself or
// through packages of its own module, in alphabetical order.
func importsOf(dir, root, module string) ([]string, error) {
	goContext := gobuild.Default
	goContext.CgoEnabled = true
	var imports []string
	seen := make(map[string]bool)
	for dirs := []string{dir}; len(dirs) > 0; {
		p, err := goContext.ImportDir(dirs[0], 0)
		if err != nil {
			return nil, err
		}
		dirs = dirs[1:]
		for _, name := range p.Imports {
			if domain, _, _ := strings.Cut(name, "/"); seen[name] || !strings.Contains(domain, ".") {
				continue // of the standard library
			}
			seen[name] = true
			if own, ok := strings.CutPrefix(name, module+"/"); ok {
				dirs = append(dirs, filepath.Join(root, filepath.FromSlash(own)))
			} else {
				imports = append(imports, name)
			}
		}
	}
	slices.Sort(imports)
	return imports, nil
}

// requireOnly drops the requirements that the imports do not need, and returns the contender's
// library: the module of the first import that is not replaced. A library that go.mod does not
// require, because some registries refuse it, is named by its package.
func requireOnly(mod *modfile.File, imports []string) (library string) {
	var kept []*modfile.Require
	for _, name := range imports {
		found := name
		if r := providing(mod.Require, name); r != nil {
			found = r.Mod.Path
			if !slices.Contains(kept, r) {
				kept = append(kept, r)
			}
		}
		replaced := slices.ContainsFunc(mod.Replace, func(r *modfile.Replace) bool { return r.Old.Path == found })
		if library == "" && !replaced {
			library = found
		}
	}
	mod.SetRequireSeparateIndirect(kept)
	mod.Cleanup()
	return library
}

// providing returns the requirement with the longest path that a package lies in; nil if there is
// none.
func providing(list []*modfile.Require, name string) (found *modfile.Require) {
	for _, r := range list {
		within := name == r.Mod.Path || strings.HasPrefix(name, r.Mod.Path+"/")
		if within && (found == nil || len(r.Mod.Path) > len(found.Mod.Path)) {
			found = r
		}
	}
	return found
}

// writeModFile writes a go.mod, and next to it a copy of the go.sum.
func writeModFile(path string, mod *modfile.File, sum string) error {
	text, err := mod.Format()
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(sum)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(path, text, 0o666),
		os.WriteFile(strings.TrimSuffix(path, ".mod")+".sum", sums, 0o666),
	)
}
