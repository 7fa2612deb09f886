package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// noticesName is the file with the licenses of the modules in a binary beside Folio.
const noticesName = "THIRD_PARTY.txt"

// licenses are the names of files with terms that a binary must carry with it.
var licenses = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// shipped are licenses of files in the source that other projects wrote.
var shipped = []string{"serve/internal/page/lexers/LICENSE"}

// A pkg is go list's description of a package.
type pkg struct {
	Dir    string
	Module *struct{ Path, Version, Dir string }
}

// notices returns the licenses of all modules that the command is made of on a system, and of Go.
// It looks in the directories of the packages that are compiled, and in those above them.
func (r *release) notices(ctx context.Context, env []string) ([]byte, error) {
	listed, err := r.gotool(ctx, env, "list", "-deps", "-json=Dir,Module", "./cmd/folio")
	if err != nil {
		return nil, err
	}
	dirs, titles := map[string][]string{}, map[string]string{} // by the directory of the module
	for d := json.NewDecoder(strings.NewReader(listed)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Module == nil || p.Module.Path == modulePath {
			continue
		}
		root := p.Module.Dir
		titles[root] = p.Module.Path + " " + p.Module.Version
		for dir := p.Dir; len(dir) >= len(root); dir = filepath.Dir(dir) {
			if !slices.Contains(dirs[root], dir) {
				dirs[root] = append(dirs[root], dir)
			}
		}
	}
	goroot, err := r.gotool(ctx, nil, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	titles[goroot], dirs[goroot] = "Go", []string{goroot}
	var out bytes.Buffer
	out.WriteString("The command folio has parts of these projects in it, under these terms.\n")
	roots := make([]string, 0, len(dirs))
	for root := range dirs {
		roots = append(roots, root)
	}
	slices.SortFunc(roots, func(a, b string) int { return strings.Compare(titles[a], titles[b]) })
	for _, root := range roots {
		slices.Sort(dirs[root])
		if err := writeLicenses(&out, titles[root], root, dirs[root]); err != nil {
			return nil, err
		}
	}
	for _, name := range shipped {
		text, err := os.ReadFile(filepath.Join(r.source, name))
		if err != nil {
			return nil, err
		}
		writeLicense(&out, name, text)
	}
	return out.Bytes(), nil
}

// writeLicenses writes those in some directories of a module. A module must have one.
func writeLicenses(out *bytes.Buffer, title, root string, dirs []string) error {
	found := false
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() || !licenses.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			writeLicense(out, title+", "+filepath.ToSlash(name), text)
			found = true
		}
	}
	if !found {
		return fmt.Errorf("%s has no license", title)
	}
	return nil
}

func writeLicense(out *bytes.Buffer, title string, text []byte) {
	fmt.Fprintf(out, "\n%s\n%s\n\n%s\n", title, strings.Repeat("=", len(title)), bytes.TrimSpace(text))
}
