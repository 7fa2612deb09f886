package folio_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// documented are the directories of the packages that programs import, and of those that others in
// this module build on. Each exported name in them has a doc comment.
var documented = []string{".", "sqlitefile", "sqlstore", "pgstore", "mount", "serve", "internal/store", "internal/store/native", "internal/store/sqlstore", "internal/store/storetest", "internal/store/check", "internal/roottest", "adapter"}

// TestDocComments wants a doc comment for every exported name, and one that begins with the name
// for functions and types.
func TestDocComments(t *testing.T) {
	for _, root := range documented {
		err := fs.WalkDir(os.DirFS("."), root, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && name != root && (root != "adapter" || d.Name() == "testdata" || d.Name() == "internal"):
				return fs.SkipDir
			case path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go"):
				return checkDocComments(t, name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// checkDocComments reports the exported names of one file that have no doc comment.
func checkDocComments(t *testing.T, name string) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		for _, u := range undocumented(d, path.Dir(name) == ".") {
			t.Errorf("%s: %s has no doc comment", fset.Position(u.Pos()), u.Name)
		}
	}
	return nil
}

// undocumented returns the exported names of a declaration that have no doc comment. In package
// folio, root is true.
func undocumented(d ast.Decl, root bool) (names []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && isPublic(d, root) && !begins(d.Doc, d.Name.Name) {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() && !begins(d.Doc, spec.Name.Name) && !begins(spec.Doc, spec.Name.Name) {
					names = append(names, spec.Name)
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					if name.IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
						names = append(names, name)
					}
				}
			}
		}
	}
	return names
}

// isPublic reports whether a function has no receiver, or one of an exported type. The methods of
// errors, and those by which a type implements fmt.Stringer, need no comment.
func isPublic(f *ast.FuncDecl, root bool) bool {
	if f.Recv == nil {
		return true
	}
	switch f.Name.Name {
	case "Error", "Is", "As", "Unwrap", "String":
		return false
	}
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && (id.IsExported() || root && (id.Name == "reader" || id.Name == "writer"))
}

// begins reports whether a comment is there and begins with a name, perhaps after an article.
func begins(doc *ast.CommentGroup, name string) bool {
	text := doc.Text()
	for _, article := range []string{"A ", "An ", "The "} {
		text = strings.TrimPrefix(text, article)
	}
	return strings.HasPrefix(text, name+" ") || strings.HasPrefix(text, name+"\n") || strings.HasPrefix(text, name+",") || strings.HasPrefix(text, name+":")
}
