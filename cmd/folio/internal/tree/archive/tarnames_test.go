package archive

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

func dirMember(name string) member {
	return member{Header: tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755}}
}

func hardLink(name, to string) member {
	return member{Header: tar.Header{Typeflag: tar.TypeLink, Name: name, Linkname: to, Mode: 0o644}}
}

func symlink(name, to string) member {
	return member{Header: tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to, Mode: 0o777}}
}

// A hard link keeps the file that its target was, whatever replaces the target later.
func TestTarReplacedLinks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		members []member
		want    []string
	}{
		{
			"a target",
			[]member{file("a", "1"), hardLink("b", "a"), file("a", "2")},
			[]string{`b -rw-r--r-- "1"`, `a -rw-r--r-- "2"`},
		},
		{
			"a target with two links",
			[]member{file("a", "1"), hardLink("b", "a"), hardLink("c", "a"), file("a", "2")},
			[]string{`b -rw-r--r-- "1"`, "c == b", `a -rw-r--r-- "2"`},
		},
		{
			"a chain",
			[]member{file("a", "1"), hardLink("b", "a"), hardLink("c", "b"), file("b", "2"), file("a", "3")},
			[]string{`c -rw-r--r-- "1"`, `b -rw-r--r-- "2"`, `a -rw-r--r-- "3"`},
		},
		{
			"the middle of a chain",
			[]member{file("a", "1"), hardLink("b", "a"), hardLink("c", "b"), file("b", "2")},
			[]string{`a -rw-r--r-- "1"`, "c == a", `b -rw-r--r-- "2"`},
		},
		{
			"a link",
			[]member{file("a", "1"), hardLink("b", "a"), file("b", "2")},
			[]string{`a -rw-r--r-- "1"`, `b -rw-r--r-- "2"`},
		},
		{
			"a file by a link",
			[]member{file("a", "1"), file("b", "2"), hardLink("b", "a"), file("a", "3")},
			[]string{`b -rw-r--r-- "1"`, `a -rw-r--r-- "3"`},
		},
		{
			"by what the link was made to",
			[]member{file("a", "1"), hardLink("b", "a"), file("b", "2"), hardLink("a", "b")},
			[]string{`b -rw-r--r-- "2"`, "a == b"},
		},
		{
			"by itself",
			[]member{file("a", "1"), hardLink("b", "a"), hardLink("a", "b"), hardLink("a", "a")},
			[]string{`a -rw-r--r-- "1"`, "b == a"},
		},
		{
			"by a directory",
			[]member{file("a", "1"), hardLink("b", "./a"), dirMember("a"), file("a/f", "2")},
			[]string{`b -rw-r--r-- "1"`, "a drwxr-xr-x", `a/f -rw-r--r-- "2"`},
		},
		{
			"a directory by a file",
			[]member{dirMember("a"), file("a", "1"), hardLink("b", "a"), symlink("a", "b")},
			[]string{`b -rw-r--r-- "1"`, "a Lrwxrwxrwx -> b"},
		},
		{
			"all names",
			[]member{file("a", "1"), hardLink("b", "a"), file("a", "2"), file("b", "3")},
			[]string{`a -rw-r--r-- "2"`, `b -rw-r--r-- "3"`},
		},
		{
			"a large file",
			[]member{file("a", strings.Repeat("y", tree.SmallSize+1)), hardLink("b", "a"), file("a", "2")},
			[]string{`b -rw-r--r-- 1048577x"y"`, `a -rw-r--r-- "2"`},
		},
		{
			"a symbolic link",
			[]member{symlink("a", "x"), hardLink("b", "a"), file("a", "2")},
			[]string{"b Lrwxrwxrwx -> x", `a -rw-r--r-- "2"`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lines, err := collectData(t, makeTar(t, tt.members...), false)
			if err != nil {
				t.Fatal(err)
			}
			treetest.WantLines(t, lines, tt.want)
		})
	}
}

// An entry that --exclude leaves out does not take the content of a file from another name.
func TestTarReplacedLinksExclude(t *testing.T) {
	t.Parallel()
	data := makeTar(t, file("a", "1"), hardLink("b", "a"), hardLink("c", "a"), file("a", "2"))
	for pattern, want := range map[string][]string{
		"a":    {`b -rw-r--r-- "1"`, "c == b"},
		"b":    {`c -rw-r--r-- "1"`, `a -rw-r--r-- "2"`},
		"[bc]": {`a -rw-r--r-- "2"`},
	} {
		name := filepath.Join(t.TempDir(), "a.tar")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := Open(name, nil, &tree.Options{Exclude: tree.Exclude{pattern}})
		if err != nil {
			t.Fatal(err)
		}
		lines, err := treetest.Collect(src)
		if err != nil {
			t.Error(err)
		}
		treetest.WantLines(t, lines, want)
	}
}

// Random archives become the trees that GNU tar makes of them.
func TestTarLikeGNU(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("tar", "--version").Output(); err != nil || !bytes.Contains(out, []byte("GNU tar")) {
		t.Skip("tar is not that of GNU")
	}
	compared := 0
	for seed := range uint64(300) {
		data := randomTar(t, rand.New(rand.NewPCG(seed, 0)))
		dir := t.TempDir()
		extract := exec.Command("tar", "-C", dir, "-xf", "-")
		extract.Stdin = bytes.NewReader(data)
		if extract.Run() != nil {
			continue // links to nothing, directories that are not empty
		}
		compared++
		want, got := treeOf(t, os.DirFS(dir)), treeOfTar(t, data)
		if !maps.Equal(want, got) {
			lines, _ := collectData(t, data, false)
			t.Fatalf("seed %d: got %v, want %v, of %q", seed, got, want, lines)
		}
	}
	if compared < 50 {
		t.Errorf("compared %d archives", compared)
	}
}

func randomTar(t *testing.T, r *rand.Rand) []byte {
	names := []string{"a", "b", "c", "d/a", "d/b"}
	some := func() string { return names[r.IntN(len(names))] }
	members := []member{file(some(), "first"), file(some(), "second")}
	for i := range 2 + r.IntN(8) {
		switch r.IntN(8) {
		case 0:
			members = append(members, dirMember(some()))
		case 1:
			members = append(members, symlink(some(), "x"))
		case 2, 3:
			members = append(members, file(some(), fmt.Sprint(i)))
		default:
			members = append(members, hardLink(some(), some()))
		}
	}
	return makeTar(t, members...)
}

// treeOf says of each name what it is, and which name of the same file comes first.
func treeOf(t *testing.T, fsys fs.FS) map[string]string {
	t.Helper()
	tree, infos := make(map[string]string), make(map[string]fs.FileInfo)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			tree[name] = "directory"
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		infos[name] = info
		var data []byte
		if info.Mode().IsRegular() {
			data, err = fs.ReadFile(fsys, name)
		}
		first := name
		for other, seen := range infos {
			if other < first && sameFile(seen, info) {
				first = other
			}
		}
		tree[name] = fmt.Sprintf("%v %q, as %s", info.Mode().Type(), data, first)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// sameFile is os.SameFile, for files of volumes too.
func sameFile(a, b fs.FileInfo) bool {
	if as, ok := a.Sys().(*folio.Node); ok {
		return as.Ino == b.Sys().(*folio.Node).Ino
	}
	return os.SameFile(a, b)
}

// treeOfTar imports an archive.
func treeOfTar(t *testing.T, data []byte) map[string]string {
	t.Helper()
	src, err := open(t, data)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	name := filepath.Join(t.TempDir(), "v.folio")
	err = folio.Create(t.Context(), name, nil, func(b *folio.Builder) error {
		return src.Walk(t.Context(), func(e *tree.Entry) error {
			if e.Link != "" {
				return b.Link(e.Link, e.Name)
			}
			return e.AddTo(b, &e.Header)
		})
	})
	if err != nil {
		return map[string]string{"error": err.Error()}
	}
	vol, err := folio.Open(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer vol.Close()
	return treeOf(t, vol.FS())
}
