package folio_test

import (
	"flag"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateAPI = flag.Bool("update", false, "TestAPI writes testdata/api.txt again")

// apiFile has the public API of this module: each exported name of each package that other modules
// can import, one on a line, with its type. Methods and fields of embedded types stand below each
// type that go doc shows them for.
const apiFile = "testdata/api.txt"

// mostNames is how many exported constants, variables, functions, types and methods there are at
// most, apart from package sqlite, which is not complete yet. The methods of an embedded type count
// once.
const mostNames = 540

// TestAPI compares the public API with apiFile, so that no change of it goes unseen.
func TestAPI(t *testing.T) {
	t.Parallel()
	var lines []string
	names := 0
	for _, dir := range packageDirs(t) {
		if isImportable(dir) {
			p := newAPI(t, dir)
			lines = append(lines, p.lines...)
			if dir != "sqlite" {
				names += len(p.names)
			}
		}
	}
	if names > mostNames {
		t.Errorf("%d names, more than %d", names, mostNames)
	}
	got := strings.Join(lines, "\n") + "\n"
	if *updateAPI {
		if err := os.WriteFile(apiFile, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(apiFile)
	if err != nil {
		t.Fatal(err)
	}
	was := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for _, line := range was {
		if !slices.Contains(lines, line) {
			t.Errorf("gone: %s", line)
		}
	}
	for _, line := range lines {
		if !slices.Contains(was, line) {
			t.Errorf("new: %s", line)
		}
	}
	if t.Failed() {
		t.Error("if that is meant, name it in CHANGELOG.md, and run: go test . -run TestAPI -update")
	}
}

// isImportable reports whether another module can import the package in a directory.
func isImportable(dir string) bool {
	elems := strings.Split(dir, "/")
	return !slices.Contains(elems, "internal") && elems[0] != "cmd" && elems[0] != "examples"
}

// An api is the API of a package.
type api struct {
	fset  *token.FileSet
	pkg   string
	lines []string
	names map[string]bool // a method by the type that declares it
}

func newAPI(t *testing.T, dir string) *api {
	t.Helper()
	system := build.Default
	system.GOOS, system.GOARCH, system.CgoEnabled = "linux", "amd64", false
	found, err := system.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &api{fset: token.NewFileSet(), names: make(map[string]bool), pkg: strings.TrimPrefix(path.Join("folio", dir), "folio/")}
	var files []*ast.File
	for _, name := range found.GoFiles {
		f, err := parser.ParseFile(p.fset, filepath.Join(dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	d, err := doc.NewFromFiles(p.fset, files, path.Join(modulePath, dir))
	if err != nil {
		t.Fatal(err)
	}
	p.values("const", d.Consts)
	p.values("var", d.Vars)
	p.funcs("func ", d.Funcs)
	for _, typ := range d.Types {
		p.typ(typ)
	}
	slices.Sort(p.lines)
	return p
}

func (p *api) add(text string) { p.lines = append(p.lines, p.pkg+": "+text) }

func (p *api) values(kind string, list []*doc.Value) {
	for _, v := range list {
		for _, name := range v.Names {
			if ast.IsExported(name) {
				p.add(kind + " " + name)
				p.names[name] = true
			}
		}
	}
}

// funcs adds functions, except those for packages of this module alone.
func (p *api) funcs(kind string, list []*doc.Func) {
	for _, f := range list {
		signature := p.text(f.Decl.Type)
		if strings.Contains(signature, "private.Key") {
			continue
		}
		p.add(kind + f.Name + strings.TrimPrefix(signature, "func"))
		p.names[f.Orig+"."+f.Name] = true
	}
}

func (p *api) typ(t *doc.Type) {
	p.values("const", t.Consts)
	p.values("var", t.Vars)
	p.funcs("func ", t.Funcs)
	p.funcs("method "+t.Name+".", t.Methods)
	p.names[t.Name] = true
	spec := t.Decl.Specs[0].(*ast.TypeSpec)
	kind, fields := p.text(spec.Type), (*ast.FieldList)(nil)
	switch s := spec.Type.(type) {
	case *ast.StructType:
		kind, fields = "struct", s.Fields
	case *ast.InterfaceType:
		kind, fields = "interface", s.Methods
	}
	p.add("type " + t.Name + " " + kind)
	if fields == nil {
		return
	}
	for _, f := range fields.List {
		if len(f.Names) == 0 {
			p.add("field " + t.Name + ": " + p.text(f.Type))
		}
		for _, name := range f.Names {
			p.add("field " + t.Name + "." + name.Name + " " + p.text(f.Type))
		}
	}
}

// text returns a type on one line.
func (p *api) text(n ast.Node) string {
	var b strings.Builder
	_ = printer.Fprint(&b, p.fset, n)
	return strings.Join(strings.Fields(b.String()), " ")
}
