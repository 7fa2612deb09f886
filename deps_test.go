package folio_test

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const modulePath = "github.com/foliofs/folio"

// An importRule says what the files of one package may import, tests apart. Any package may import
// the standard library, except for the doors to the operating system, and may be used with
// internal/invariant.
type importRule struct {
	pkg    string // its directory; a name that ends in /* stands for any directory below
	own    string // packages of this module, all of them from earlier rules; "." is the root
	third  string // modules of third parties, those of its tests included
	os     bool   // may touch the operating system
	osRoot bool   // may name the type os.Root, and nothing else of package os
	pure   bool   // no I/O and no state: not even the standard library's readers, clocks and locks
}

// importRules is policy, from the bottom to the top. A package without a rule does not pass. Relax
// a rule only with a reason in the commit message.
var importRules = []importRule{
	{pkg: "internal/invariant"},
	{pkg: "internal/blocked"},                         // for tests
	{pkg: "internal/race"},                            // for tests
	{pkg: "internal/must"},                            // for tests
	{pkg: "internal/random"},                          // for tests
	{pkg: "internal/wine", third: "golang.org/x/sys"}, // for tests
	{pkg: "internal/inoset", pure: true},
	{pkg: "internal/mediatype", pure: true}, // for adapter/dav and serve
	{pkg: "internal/match"},                 // for cmd/folio and serve
	{pkg: "internal/litmus", os: true},      // for tests
	{pkg: "internal/format", pure: true},
	{pkg: "internal/record", own: "internal/format"},
	{pkg: "internal/sql/syntax", pure: true},
	{pkg: "internal/sql/value", own: "internal/record", pure: true},
	{pkg: "internal/ddl", own: "internal/record internal/sql/syntax internal/sql/value", pure: true},
	{pkg: "internal/sql/program", own: "internal/record internal/sql/value"},
	{pkg: "internal/sql/function", own: "internal/record internal/sql/value", pure: true},
	{pkg: "internal/expr", own: "internal/ddl internal/record internal/sql/syntax internal/sql/value internal/sql/program internal/sql/function"},
	{pkg: "internal/private"},         // set by sqlitefile, called by internal/store/native
	{pkg: "internal/posix", os: true}, // its words, not its files
	{pkg: "internal/osfile", third: "golang.org/x/sys", os: true},
	{pkg: "internal/osfile/crashfs", own: "internal/osfile", os: true}, // for tests, as is the next; for the error of a full disk
	{pkg: "internal/osfile/faultfs", own: "internal/osfile"},
	{pkg: "internal/osfile/readeratfs", own: "internal/osfile"},
	{pkg: "internal/osfile/memfs", own: "internal/osfile"},
	{pkg: "internal/osfile/ordercheck", own: "internal/format internal/osfile"},
	{pkg: "internal/dberr", own: "internal/osfile"},
	{pkg: "internal/wal", own: "internal/format internal/osfile internal/dberr"},
	{pkg: "internal/btree", own: "internal/format internal/record internal/dberr"},
	{pkg: "internal/bulk", own: "internal/format internal/osfile internal/btree"},
	{pkg: "internal/pageset"},
	{pkg: "internal/chain"},
	{pkg: "internal/lease"},
	{pkg: "internal/superjournal", own: "internal/format internal/osfile internal/dberr"},
	{pkg: "internal/journal", own: "internal/superjournal internal/format internal/osfile internal/dberr internal/wal internal/pageset"},
	{pkg: "internal/reserve", own: "internal/btree internal/osfile"},
	{pkg: "internal/pager", own: "internal/journal internal/reserve internal/private internal/format internal/osfile internal/dberr internal/wal internal/btree internal/pageset internal/chain internal/lease"},
	{pkg: "internal/search", own: "internal/format internal/record internal/btree internal/chain internal/pager"},
	{pkg: "internal/extsort", own: "internal/record internal/format internal/osfile"},
	{pkg: "sqlitefile", own: "internal/private internal/format internal/record internal/dberr internal/wal internal/btree internal/bulk internal/extsort internal/pageset internal/chain internal/reserve internal/pager internal/search internal/ddl internal/expr internal/sql/syntax internal/sql/value internal/osfile internal/osfile/readeratfs internal/osfile/memfs"},
	{pkg: "internal/sql/catalog", own: "internal/private internal/sql/value sqlitefile"},
	{pkg: "internal/sql/bind", own: "internal/ddl internal/record internal/sql/syntax internal/sql/value internal/sql/program internal/sql/function internal/sql/catalog"},
	{pkg: "internal/sql/rewrite", own: "internal/sql/syntax internal/sql/value internal/sql/program internal/sql/catalog internal/sql/bind"},
	{pkg: "internal/sql/exec", own: "internal/ddl internal/extsort internal/private internal/record internal/sql/syntax internal/sql/value internal/sql/program internal/sql/function internal/sql/catalog internal/sql/bind internal/sql/rewrite sqlitefile"},
	{pkg: "sqlite", os: true, own: "internal/private internal/record internal/osfile internal/ddl internal/sql/syntax internal/sql/value internal/sql/catalog internal/sql/bind internal/sql/exec sqlitefile"}, // os: which file a path names
	{pkg: "sqlite/shadow", own: "internal/sql/syntax sqlite sqlitefile"},
	{pkg: "internal/store", own: "internal/posix"},
	{pkg: "internal/store/storetest", own: "internal/store internal/must internal/random"},
	{pkg: "internal/store/check", own: "internal/store internal/ddl"},
	{pkg: "internal/store/release", own: "internal/store"},
	{pkg: "internal/store/native/rowstore", own: "internal/store internal/private sqlitefile"},
	{pkg: "internal/store/native/clone", own: "internal/store internal/store/native/rowstore sqlitefile"},
	{pkg: "internal/store/native/history", own: "internal/store internal/private internal/store/native/rowstore internal/store/native/clone sqlitefile"},
	{pkg: "internal/store/native/repair", own: "internal/store internal/store/check internal/ddl internal/store/native/rowstore internal/store/native/clone internal/store/native/history sqlitefile"},
	{
		pkg: "internal/store/native",
		own: "internal/store internal/store/check internal/store/release sqlitefile internal/private internal/ddl internal/blocked " +
			"internal/store/native/rowstore internal/store/native/clone internal/store/native/history internal/store/native/repair",
	},
	{pkg: "internal/store/sqlstore", own: "internal/store internal/store/check internal/store/release internal/osfile"},
	{pkg: "internal/store/pgstore/pgserver", os: true},                      // for tests
	{pkg: "internal/store/pgstore/pgproxy", os: true},                       // for tests
	{pkg: "internal/store/pgstore/s3server", os: true},                      // for tests
	{pkg: "internal/store/pgstore/bucket", own: "internal/store", os: true}, // ~/.aws
	{pkg: "internal/store/pgstore/chunkcache", os: true},                    // a file of its own
	{
		pkg: "internal/store/pgstore", third: "github.com/jackc/pgx github.com/anishathalye/porcupine golang.org/x/sys golang.org/x/sync", // porcupine in its tests
		own: "internal/store internal/store/check internal/store/release internal/store/pgstore/bucket internal/store/pgstore/chunkcache",
	},
	{pkg: "internal/store/overlay", own: "internal/store internal/store/release internal/posix"},
	{pkg: "internal/inode", own: "internal/posix internal/store"},
	{pkg: "internal/diff", own: "internal/store"},
	{pkg: "internal/restore", own: "internal/inode internal/inoset internal/diff internal/store internal/posix"},
	{pkg: "internal/build", own: "internal/store internal/store/native internal/posix"},
	{pkg: "internal/commit", own: "internal/store internal/store/overlay internal/posix"},
	{
		pkg: ".", osRoot: true, // which an overlay is committed to
		own: "internal/inode internal/store internal/store/native internal/store/overlay internal/build internal/commit internal/diff internal/restore internal/posix internal/inoset internal/private",
	},
	{pkg: "sqlstore", own: ". internal/private internal/store internal/store/sqlstore"},
	{pkg: "pgstore", own: ". internal/private internal/store internal/store/pgstore"},
	{pkg: "internal/roottest", own: "internal/must internal/random", third: "golang.org/x/sys", os: true},                                                                   // compares with the system
	{pkg: "internal/volumetest", own: ". internal/private internal/must internal/random internal/roottest internal/store internal/store/native internal/blocked", os: true}, // for tests
	{pkg: "adapter/internal/rooted", own: ". internal/posix"},
	{pkg: "adapter/aferofs", own: ". adapter/internal/rooted", third: "github.com/spf13/afero"},
	{pkg: "adapter/billyfs", own: ". internal/posix adapter/internal/rooted", third: goGit + " gopkg.in/check.v1"},
	{pkg: "adapter/internal/etag", own: "."},
	{pkg: "adapter/web", own: ". adapter/internal/etag"},
	{pkg: "adapter/dav", own: ". internal/posix internal/inoset internal/mediatype adapter/internal/etag", third: "golang.org/x/net/webdav", os: true}, // temporary files of uploads
	{pkg: "adapter/internal/upstream", os: true},                                                                                                       // for tests
	{pkg: "adapter/internal/volumes", own: ". pgstore internal/store/pgstore/pgserver"},                                                                // for tests
	{pkg: "adapter/*", own: "."},
	{pkg: "mount/internal/watchdog", third: "golang.org/x/sys", os: true},
	{pkg: "mount", own: ". internal/inode internal/posix internal/store internal/private mount/internal/watchdog", third: goFUSE + " golang.org/x/sys", os: true},
	{pkg: "serve/internal/page", third: "github.com/alecthomas/chroma/v2 github.com/yuin/goldmark github.com/rogpeppe/go-internal golang.org/x/net/html golang.org/x/text/unicode/norm"},
	{
		pkg: "serve", own: ". internal/store internal/inoset internal/match internal/mediatype internal/posix internal/private adapter/web adapter/dav serve/internal/page", os: true, // watches the volume's file, and listens
		third: "golang.org/x/crypto golang.org/x/exp/slog golang.org/x/net/netutil golang.org/x/sys/unix golang.org/x/sync/singleflight github.com/tus/tusd/v2 github.com/klauspost/compress " +
			"github.com/chromedp golang.org/x/net/http2", // in its tests
	},
	{pkg: "cmd/folio/internal/quote"},
	{pkg: "cmd/folio/internal/value", own: "internal/posix", os: true},                           // the umask
	{pkg: "cmd/folio/internal/tree", own: ". internal/posix cmd/folio/internal/value", os: true}, // errnos, and who runs the command
	{pkg: "cmd/folio/internal/tree/treetest", own: ". cmd/folio/internal/tree", os: true},        // for tests
	{pkg: "cmd/folio/internal/failure", own: ". sqlitefile internal/posix " + cmdPackages("tree quote"), os: true},
	{pkg: "cmd/folio/internal/tree/disk", own: ". internal/posix " + cmdPackages("tree failure"), third: "golang.org/x/sys", os: true},
	{
		pkg: "cmd/folio/internal/tree/archive", third: "github.com/klauspost/compress golang.org/x/sys", os: true,
		own: ". sqlitefile internal/osfile internal/posix " + cmdPackages("tree tree/disk failure"),
	},
	{pkg: "cmd/folio/internal/interrupt", own: cmdPackages("failure"), third: "golang.org/x/sys", os: true},
	{
		pkg: "cmd/folio/internal/terminal", own: cmdPackages("quote value failure"), os: true,
		third: "golang.org/x/term golang.org/x/sys",
	},
	{
		pkg: "cmd/folio/internal/location", os: true,
		own: ". sqlitefile pgstore " + cmdPackages("tree tree/disk tree/archive failure terminal quote"), // the names of archives
	},
	{pkg: "cmd/folio/internal/mountpoint", own: cmdPackages("failure location"), third: "golang.org/x/sys", os: true},
	{pkg: "cmd/folio/internal/overlay", own: ". internal/commit internal/private " + cmdPackages("tree tree/disk failure location mountpoint"), os: true},
	{pkg: "cmd/folio/internal/listing", own: ". internal/posix internal/inoset " + cmdPackages("tree value location")},
	{
		pkg: "cmd/folio/internal/tree/volume", os: true,
		own: ". internal/inoset " + cmdPackages("tree tree/disk failure terminal location listing"),
	},
	{pkg: "cmd/folio/internal/copier", own: ". internal/posix " + cmdPackages("tree tree/disk tree/volume value failure terminal location"), os: true},
	{
		pkg: "cmd/folio/internal/convert", os: true,
		own: ". internal/posix " + cmdPackages("tree tree/archive tree/disk tree/volume value failure interrupt terminal location overlay"),
	},
	{pkg: "cmd/folio/internal/grep", own: ". internal/match " + cmdPackages("failure terminal location listing")},
	{pkg: "cmd/folio/internal/compare", own: ". internal/inoset " + cmdPackages("tree tree/disk failure location listing"), os: true},
	{pkg: "cmd/folio/internal/mirror", own: ". " + cmdPackages("tree tree/disk compare listing"), third: "golang.org/x/sys"}, // in its tests
	{pkg: "cmd/folio/internal/patch", own: cmdPackages("quote compare"), third: "github.com/rogpeppe/go-internal"},
	{
		pkg: "cmd/folio/internal/sqlshell", os: true, // signals, and the terminal
		own: "sqlite sqlitefile internal/sql/syntax " + cmdPackages("interrupt quote value failure terminal"), third: "golang.org/x/term",
	},
	{
		pkg: "cmd/folio", os: true,
		own: ". mount serve pgstore sqlite internal/store internal/posix internal/inoset internal/match " + cmdPackages("tree tree/disk mirror "+
			"quote value failure interrupt terminal location mountpoint overlay listing copier convert grep compare patch sqlshell"),
		third: "github.com/spf13/cobra github.com/spf13/pflag golang.org/x/sys github.com/rogpeppe/go-internal",
	},
	{pkg: "examples/*", own: ". sqlitefile", os: true},
}

// cmdPackages are packages below cmd/folio/internal, by their names.
func cmdPackages(names string) string {
	return "cmd/folio/internal/" + strings.Join(strings.Fields(names), " cmd/folio/internal/")
}

// goGit is the library that billyfs serves, and with which its tests clone a repository.
const goGit = "github.com/go-git/go-billy/v5 github.com/go-git/go-git/v5"

// goFUSE is the library that speaks with the kernel for package mount.
const goFUSE = "github.com/hanwen/go-fuse/v2"

// Packages that open a door to the operating system. Package io/fs is not among them: it has no
// access to files.
var osDoors = []string{"os", "syscall", "io/ioutil", "plugin", "runtime/cgo", "golang.org/x/sys"}

// Packages that a pure package does without.
var impure = []string{"io", "bufio", "context", "log", "net", "sync", "time", "math/rand", "path/filepath"}

// TestImports holds every package of this module to importRules: all its files, for whatever system
// they are built.
func TestImports(t *testing.T) {
	for _, v := range slices.Compact(importViolations(t, os.DirFS("."))) {
		t.Error(v)
	}
}

// TestOSRoot checks that the packages that may name os.Root take nothing else from package os.
func TestOSRoot(t *testing.T) {
	for _, r := range importRules {
		if !r.osRoot {
			continue
		}
		files, err := os.ReadDir(r.pkg)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if path.Ext(f.Name()) != ".go" || strings.HasSuffix(f.Name(), "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), path.Join(r.pkg, f.Name()), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name != "Root" {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "os" {
						t.Errorf("%s uses os.%s", f.Name(), s.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

// TestRequirements checks which modules of others a program compiles that imports a package, with
// all that the package imports in turn.
func TestRequirements(t *testing.T) {
	for pkg, want := range map[string][]string{
		".":          {"golang.org/x/sys"},
		"sqlitefile": {"golang.org/x/sys"},
		"sqlstore":   {"golang.org/x/sys"},
		"mount":      {"golang.org/x/sys", goFUSE},
	} {
		if got := foreignModules(pkg); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("package %s compiles %q, want %q", pkg, got, want)
		}
	}
}

// foreignModules returns those that importRules let a package import, itself or through others.
func foreignModules(pkg string) (modules []string) {
	seen := map[string]bool{}
	for below := []string{pkg}; len(below) > 0; below = below[1:] {
		rule, _ := ruleOf(below[0])
		if seen[rule.pkg] {
			continue
		}
		seen[rule.pkg] = true
		modules = append(modules, strings.Fields(rule.third)...)
		below = append(below, strings.Fields(rule.own)...)
	}
	slices.Sort(modules)
	return slices.Compact(modules)
}

// TestInstallable checks that "go install" and "go get" can take the module by a version: they
// refuse one that replaces or excludes others. There is no module below the root but those that
// nobody installs.
func TestInstallable(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word == "replace" || word == "exclude" || strings.Contains(line, "=>") {
			t.Errorf("go.mod: %s", line)
		}
	}
	var modules []string
	err = fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(name, ".") && name != ".") {
			return fs.SkipDir
		}
		if path.Base(name) == "go.mod" {
			modules = append(modules, path.Dir(name))
		}
		return err
	})
	if want := []string{".", "internal/oracle", "lab", "tools"}; err != nil || !slices.Equal(modules, want) {
		t.Errorf("the modules are %q, want %q (%v)", modules, want, err)
	}
}

// TestImportRules checks that the rules themselves point down.
func TestImportRules(t *testing.T) {
	var below []string
	for _, r := range importRules {
		for _, own := range strings.Fields(r.own) {
			if !slices.Contains(below, own) {
				t.Errorf("the rule of %s allows %s, which is not below it", r.pkg, own)
			}
		}
		if slices.Contains(below, r.pkg) {
			t.Errorf("two rules for %s", r.pkg)
		}
		below = append(below, r.pkg)
	}
}

// TestImportViolations checks that the checker finds each violation, and nothing else.
func TestImportViolations(t *testing.T) {
	const own = modulePath + "/"
	tests := []struct {
		name, file, source string
		want               string // part of the one violation, or empty for none
	}{
		{"down", "sqlitefile/a.go", imports(own + "internal/format"), ""},
		{"up", "internal/format/a.go", imports(own + "sqlitefile"), "internal/format/a.go: may not import " + own + "sqlitefile"},
		{"past the seam", "a.go", imports(own + "sqlitefile"), "a.go: may not import " + own + "sqlitefile"},
		{"root from below", "internal/store/a.go", imports(modulePath), "internal/store/a.go: may not import " + modulePath},
		{"root from above", "cmd/folio/a.go", imports(modulePath), ""},
		{"invariant", "internal/format/a.go", imports(own + "internal/invariant"), ""},
		{"os", "sqlitefile/a.go", imports("os"), "sqlitefile/a.go: may not import os"},
		{"os/exec", "internal/store/native/a.go", imports("os/exec"), "may not import os/exec"},
		{"syscall", "a.go", imports("syscall"), "a.go: may not import syscall"},
		{"unix", "sqlitefile/a.go", imports("golang.org/x/sys/unix"), "may not import golang.org/x/sys/unix"},
		{"os in osfile", "internal/osfile/a.go", imports("os", "syscall", "golang.org/x/sys/unix"), ""},
		{"os in cmd", "cmd/folio/a.go", imports("os"), ""},
		{"os in a test", "sqlitefile/a_test.go", imports("os", "testing"), ""},
		{"os on one system", "sqlitefile/a_windows.go", imports("os"), "may not import os"},
		{"os behind a tag", "sqlitefile/a.go", "//go:build slow\n\n" + imports("os"), "may not import os"},
		{"os in a generator", "sqlitefile/gen.go", "//go:build ignore\n\n" + imports("os"), ""},
		{"io/fs", "sqlitefile/a.go", imports("io/fs", "errors"), ""},
		{"pure", "internal/format/a.go", imports("io"), "internal/format/a.go: may not import io"},
		{"pure, below", "internal/ddl/a.go", imports("sync/atomic"), "may not import sync/atomic"},
		{"pure, by prefix only", "internal/ddl/a.go", imports("iter", "math"), ""},
		{"cgo", "internal/osfile/a.go", imports("C"), "internal/osfile/a.go: may not import C"},
		{"cgo in a test", "internal/store/a_test.go", imports("C"), "may not import C"},
		{"cgo in a generator", "internal/store/gen.go", "//go:build ignore\n\n" + imports("C"), "may not import C"},
		{"C source", "internal/osfile/a.c", "int x;", "internal/osfile/a.c: C in the product"},
		{"driver", "internal/store/sqlstore/a.go", imports("github.com/mattn/go-sqlite3"), "may not import github.com/mattn/go-sqlite3"},
		{"driver in a test", "internal/store/sqlstore/a_test.go", imports("modernc.org/sqlite"), "may not import modernc.org/sqlite"},
		{"allowed module", "cmd/folio/a.go", imports("github.com/spf13/cobra/doc"), ""},
		{"allowed module elsewhere", "a.go", imports("github.com/spf13/cobra"), "may not import github.com/spf13/cobra"},
		{"no rule", "internal/util/a.go", imports("errors"), "internal/util: no rule"},
		{"wildcard", "adapter/web/a.go", imports(modulePath, "net/http"), ""},
		{"wildcard, up", "adapter/web/a.go", imports(own + "internal/store"), "adapter/web/a.go: may not import " + own + "internal/store"},
		{"wildcard, others", "adapter/web/a.go", imports("golang.org/x/net/webdav"), "may not import golang.org/x/net/webdav"},
		{"adapter", "adapter/aferofs/a.go", imports(modulePath, own+"adapter/internal/rooted", "github.com/spf13/afero"), ""},
		{"adapter of another", "adapter/aferofs/a.go", imports("github.com/go-git/go-billy/v5"), "may not import github.com/go-git/go-billy/v5"},
		{"a module of its own", "lab/a.go", imports("os"), ""},
		{"testdata", "sqlitefile/testdata/a.go", imports("os"), ""},
		{"hidden", ".ci/a.go", imports("os"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := fstest.MapFS{
				"go.mod":     {},
				"lab/go.mod": {},
				tt.file:      {Data: []byte(tt.source)},
			}
			got := importViolations(t, tree)
			switch {
			case tt.want == "" && len(got) > 0:
				t.Errorf("got %q, want none", got)
			case tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)):
				t.Errorf("got %q, want one with %q", got, tt.want)
			}
		})
	}
}

// imports returns a source file that imports the given packages.
func imports(paths ...string) string {
	var b strings.Builder
	b.WriteString("package p\n")
	for _, p := range paths {
		fmt.Fprintf(&b, "import %q\n", p)
	}
	return b.String()
}

// importViolations checks every source file of the module at the root of tree. It leaves out
// testdata, hidden directories, and the modules below it.
func importViolations(t *testing.T, tree fs.FS) (violations []string) {
	t.Helper()
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			found, err := fileViolations(tree, name)
			violations = append(violations, found...)
			return err
		}
		if name != "." && (d.Name() == "testdata" || strings.ContainsAny(d.Name()[:1], "._") || hasModule(tree, name)) {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return violations
}

// hasModule reports whether a directory is a module of its own.
func hasModule(tree fs.FS, dir string) bool {
	_, err := fs.Stat(tree, path.Join(dir, "go.mod"))
	return err == nil
}

func fileViolations(tree fs.FS, name string) (violations []string, err error) {
	switch path.Ext(name) {
	case ".go":
	case ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".m", ".S", ".syso":
		return []string{name + ": C in the product"}, nil
	default:
		return nil, nil
	}
	source, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	rule, ok := ruleOf(path.Dir(name))
	if !ok {
		return []string{path.Dir(name) + ": no rule says what this package may import"}, nil
	}
	allowed := rule.allows
	switch {
	case strings.HasSuffix(name, "_test.go"):
		allowed = rule.allowsTest
	case isGenerator(string(source)):
		allowed = func(imported string) bool { return imported != "C" }
	}
	for _, spec := range file.Imports {
		if imported, _ := strconv.Unquote(spec.Path.Value); !allowed(imported) {
			violations = append(violations, fmt.Sprintf("%s: may not import %s", name, imported))
		}
	}
	return violations, nil
}

// isGenerator reports whether a source file is run by hand and never built into a package.
func isGenerator(source string) bool {
	for line := range strings.Lines(source) {
		if strings.HasPrefix(line, "package ") {
			return false
		}
		if expr, err := constraint.Parse(strings.TrimSpace(line)); err == nil {
			return expr.String() == "ignore"
		}
	}
	return false
}

func ruleOf(dir string) (importRule, bool) {
	for _, r := range importRules {
		if below, ok := strings.CutSuffix(r.pkg, "*"); r.pkg == dir || ok && strings.HasPrefix(dir, below) {
			return r, true
		}
	}
	return importRule{}, false
}

// allows reports whether a file of the package, other than a test, may import a package.
func (r importRule) allows(imported string) bool {
	switch {
	case imported == "C":
		return false
	case isOwn(imported):
		dir := strings.TrimPrefix(strings.TrimPrefix(imported, modulePath), "/")
		return dir == "internal/invariant" || slices.Contains(strings.Fields(r.own), path.Clean(dir))
	case !isStandard(imported):
		return within(imported, strings.Fields(r.third))
	case within(imported, osDoors):
		return r.os || r.osRoot && imported == "os"
	}
	return !r.pure || !within(imported, impure)
}

// allowsTest does so for the tests of the package. They see all of the module and of the standard
// library, and no other modules than the package does.
func (r importRule) allowsTest(imported string) bool {
	if imported == "C" {
		return false
	}
	return isOwn(imported) || isStandard(imported) || within(imported, strings.Fields(r.third))
}

func isOwn(imported string) bool { return within(imported, []string{modulePath}) }

// isStandard reports whether a package belongs to the standard library: no dot in its first
// element.
func isStandard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// within reports whether a package is one of the roots or lies below one.
func within(imported string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return imported == root || strings.HasPrefix(imported, root+"/")
	})
}
