package volumetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
)

// TestFaultCalls wants exactly the exported functions of package folio, and the exported methods of
// all that it returns, in the table of TestFaults.
func TestFaultCalls(t *testing.T) {
	t.Parallel()
	have := packageFunctions(t)
	for _, typ := range faultTypes(t) {
		name := typ.Name()
		if typ.Kind() == reflect.Pointer {
			name = typ.Elem().Name()
		}
		for i := range typ.NumMethod() {
			if m := typ.Method(i); !internalMethod(m.Type) {
				have[name+"."+m.Name] = true
			}
		}
	}
	listed := make(map[string]bool)
	for _, c := range faultCalls() {
		listed[c.name] = true
		if !have[c.name] {
			t.Errorf("%s is in the table of faults, and there is no such call", c.name)
		}
	}
	for name := range have {
		if !listed[name] {
			t.Errorf("%s is not in the table of faults", name)
		}
	}
}

// takesKey reports whether f is a method for packages of this module alone.
func takesKey(f *ast.FuncDecl) bool {
	if f.Recv == nil || len(f.Type.Params.List) == 0 {
		return false
	}
	sel, ok := f.Type.Params.List[0].Type.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Key"
}

// internalMethod reports whether a method is for packages of this module alone.
func internalMethod(f reflect.Type) bool {
	return f.NumIn() > 1 && f.In(1) == reflect.TypeFor[private.Key]()
}

// faultTypes returns the types whose methods are in the table.
func faultTypes(t *testing.T) []reflect.Type {
	t.Helper()
	v := Empty(t)
	must.Do(t, v.Mkdir("d", 0o755))
	list, err := v.ReadDir(".")
	must.Do(t, err)
	info, err := v.Stat("d")
	must.Do(t, err)
	return []reflect.Type{
		reflect.TypeFor[*folio.Volume](), reflect.TypeFor[*folio.Rx](), reflect.TypeFor[*folio.Tx](),
		reflect.TypeFor[*folio.File](), reflect.TypeFor[*folio.Root](), reflect.TypeFor[*folio.Builder](),
		reflect.TypeOf(v.FS()), reflect.TypeOf(list[0]), reflect.TypeOf(info),
	}
}

// packageFunctions returns the exported functions of package folio, and the exported methods of its
// exported types.
func packageFunctions(t *testing.T) map[string]bool {
	t.Helper()
	have := make(map[string]bool)
	files, err := filepath.Glob("../../*.go")
	must.Do(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		must.Do(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if name := callName(f, ok); ast.IsExported(name) && !takesKey(f) {
				have[name] = true
			}
		}
	}
	return have
}

// callName returns the name of an exported function, with that of its receiver.
func callName(f *ast.FuncDecl, ok bool) string {
	if !ok || !f.Name.IsExported() {
		return ""
	}
	if f.Recv == nil {
		return f.Name.Name
	}
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	return typ.(*ast.Ident).Name + "." + f.Name.Name
}
