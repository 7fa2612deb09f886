package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A fileGraph says which file of a package uses a declaration of which other file.
type fileGraph map[string]map[string]bool

// mostInKnot is how many files of a package may depend on each other both ways.
const mostInKnot = 6

// TestDirection checks that files of a package depend on each other in one direction. Few files may
// depend on each other both ways, such as those of one copier.
func TestDirection(t *testing.T) {
	t.Parallel()
	packages, err := filepath.Glob("internal/*")
	if err != nil || len(packages) == 0 {
		t.Fatal("no packages below internal:", err)
	}
	trees, err := filepath.Glob("internal/tree/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range slices.Concat(packages, trees, []string{"."}) {
		for _, knot := range graphOf(t, dir).knots() {
			if len(knot) > mostInKnot {
				t.Errorf("%s: %d files depend on each other, more than %d: %s", dir, len(knot), mostInKnot, strings.Join(knot, " "))
			}
		}
	}
}

// nothing imports no package: names of other packages do not matter.
type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, errors.New("not imported") }

func graphOf(t *testing.T, dir string) fileGraph {
	t.Helper()
	set := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	pkg, _ := (&types.Config{Importer: nothing{}, Error: func(error) {}}).Check(dir, set, files, info)
	g := make(fileGraph)
	fileOf := func(p token.Pos) string { return filepath.Base(set.Position(p).Filename) }
	for id, o := range info.Uses {
		if o.Pkg() != pkg || !o.Pos().IsValid() {
			continue
		}
		from, to := fileOf(id.Pos()), fileOf(o.Pos())
		if g[from] == nil {
			g[from] = make(map[string]bool)
		}
		g[from][to] = true
	}
	if len(g) < min(2, len(files)) { // what a file says for one system may use nothing
		t.Fatalf("%s: only %d files use declarations", dir, len(g))
	}
	return g
}

// knots returns the sets of files that depend on each other, directly or not.
func (g fileGraph) knots() (list [][]string) {
	reach := make(map[string]map[string]bool)
	for from := range g {
		reach[from] = make(map[string]bool)
		g.visit(from, reach[from])
	}
	for from := range g {
		knot := []string{from}
		for _, to := range slices.Sorted(maps.Keys(reach[from])) {
			if to != from && reach[to][from] {
				knot = append(knot, to)
			}
		}
		if slices.Sort(knot); len(knot) > 1 && knot[0] == from {
			list = append(list, knot)
		}
	}
	return list
}

// visit adds the files that a file depends on, directly or not.
func (g fileGraph) visit(from string, seen map[string]bool) {
	for to := range g[from] {
		if !seen[to] {
			seen[to] = true
			g.visit(to, seen)
		}
	}
}
