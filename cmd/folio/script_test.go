package main

import (
	"archive/tar"
	"archive/zip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// testPrograms are what the test binary is under other names.
var testPrograms = map[string]func(){"folio": main, helperName: main}

func TestMain(m *testing.M) {
	testscript.Main(m, testPrograms)
}

func TestScript(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/script", map[string]string{"LONG": strings.Repeat("n", 255)})
}

// runScripts runs the scripts in a directory with some variables.
func runScripts(t *testing.T, dir string, vars map[string]string) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition:           condition,
		Setup: func(env *testscript.Env) error {
			for name, value := range vars {
				env.Setenv(name, value)
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"oneline":  oneLine,
			"mktar":    makeTar,
			"mkzip":    makeZip,
			"poke":     poke,
			"cut":      cut,
			"fill":     fill,
			"exitcode": exitCode,
			"tiny":     tinyDisk,
			"readonly": readOnly,
			"sametree": sameTree,
		},
	})
}

// condition knows [root] and [mount], a root that may mount.
func condition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Geteuid() == 0, nil
	case "mount":
		return canMount(), nil
	}
	return false, errors.New("unknown condition " + cond)
}

// canMount tries it.
func canMount() bool {
	dir, err := os.MkdirTemp("", "folio-mount-")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	if exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir).Run() != nil {
		return false
	}
	return exec.Command("umount", dir).Run() == nil
}

// oneline FILE checks that what a command wrote is one line from folio.
func oneLine(ts *testscript.TestScript, neg bool, args []string) {
	text := ts.ReadFile(args[0])
	ok := strings.HasPrefix(text, "folio: ") && strings.Count(text, "\n") == 1 && strings.HasSuffix(text, "\n")
	if ok == neg {
		ts.Fatalf("not one line: %q", text)
	}
}

// A member of an archive is written NAME=CONTENT, NAME/ for a directory, NAME->TARGET for a
// symbolic link, or NAME==OTHER for a hard link. Names are unquoted as in Go, without the quotes.
func member(ts *testscript.TestScript, arg string) (h tar.Header, content string) {
	unquote := func(s string) string {
		s, err := strconv.Unquote(`"` + s + `"`)
		ts.Check(err)
		return s
	}
	if name, target, ok := strings.Cut(arg, "->"); ok {
		return tar.Header{Typeflag: tar.TypeSymlink, Name: unquote(name), Linkname: target, Mode: 0o777}, target
	}
	if name, other, ok := strings.Cut(arg, "=="); ok {
		return tar.Header{Typeflag: tar.TypeLink, Name: unquote(name), Linkname: other, Mode: 0o644}, ""
	}
	name, content, ok := strings.Cut(arg, "=")
	if !ok {
		return tar.Header{Typeflag: tar.TypeDir, Name: unquote(name), Mode: 0o755}, ""
	}
	return tar.Header{Typeflag: tar.TypeReg, Name: unquote(name), Size: int64(len(content)), Mode: 0o644}, content
}

// mktar FILE MEMBER... makes a tar archive.
func makeTar(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	w := tar.NewWriter(f)
	for _, arg := range args[1:] {
		h, content := member(ts, arg)
		ts.Check(w.WriteHeader(&h))
		if h.Typeflag == tar.TypeReg {
			_, err := io.WriteString(w, content)
			ts.Check(err)
		}
	}
	ts.Check(errors.Join(w.Close(), f.Close()))
}

// mkzip FILE MEMBER... makes a zip archive.
func makeZip(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	w := zip.NewWriter(f)
	for _, arg := range args[1:] {
		h, content := member(ts, arg)
		zh := zip.FileHeader{Name: h.Name, Method: zip.Deflate}
		zh.SetMode(h.FileInfo().Mode())
		e, err := w.CreateHeader(&zh)
		ts.Check(err)
		_, err = io.WriteString(e, content)
		ts.Check(err)
	}
	ts.Check(errors.Join(w.Close(), f.Close()))
}

// poke FILE OFFSET HEX overwrites bytes; a negative offset counts from the end.
func poke(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR, 0)
	ts.Check(err)
	off, err := strconv.ParseInt(args[1], 0, 64)
	ts.Check(err)
	if off < 0 {
		info, err := f.Stat()
		ts.Check(err)
		off += info.Size()
	}
	p, err := hex.DecodeString(args[2])
	ts.Check(err)
	_, err = f.WriteAt(p, off)
	ts.Check(errors.Join(err, f.Close()))
}

// cut FILE SIZE truncates a file.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 0, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

// fill FILE SIZE makes a file of numbers that do not repeat.
func fill(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintln(&b, i)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()[:n]), 0o600))
}

// exitcode N COMMAND... checks how a command ends.
func exitCode(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		got = e.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("%q: exit code %d, want %s", args[1:], got, args[0])
	}
}

// tiny DIR makes a directory with room for very little.
func tinyDisk(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.Mkdir(dir, 0o700))
	ts.Check(exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", dir).Run())
	ts.Defer(func() { _ = exec.Command("umount", "-l", dir).Run() })
}

// readonly DIR lets nobody write to a directory any more, not even root.
func readOnly(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(exec.Command("mount", "--bind", dir, dir).Run())
	ts.Defer(func() { _ = exec.Command("umount", "-l", dir).Run() })
	ts.Check(exec.Command("mount", "-o", "remount,bind,ro", dir).Run())
}

// sametree A B compares what a round trip keeps of two trees; see compareTrees.
func sameTree(ts *testscript.TestScript, neg bool, args []string) {
	err := compareTrees(ts.MkAbs(args[0]), ts.MkAbs(args[1]))
	if (err != nil) != neg {
		ts.Fatalf("%v", err)
	}
}
