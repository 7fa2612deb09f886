//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
)

var buildPackages = flag.Int("build.packages", 10, "how many packages TestBuild builds")

// TestBuild lets go build and test a module, on disk and in a mount with its cache and its
// temporary files. Both must say the same, and make the same programs. Most of the time goes into
// the packages of the standard library, which are not in the cache of the mount.
func TestBuild(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not there")
	}
	if testing.Short() {
		t.Skip("compiles a part of the standard library")
	}
	d := startDaemon(t, newVolume(t))
	cache := d.path("cache")
	must.Do(t, os.Mkdir(cache, 0o755))
	disk, mounted := buildIn(t, t.TempDir()), buildIn(t, d.dir, "GOCACHE="+cache)
	if disk.said != mounted.said {
		t.Errorf("on disk:\n%s\nin the mount:\n%s", disk.said, mounted.said)
	}
	if len(disk.program) == 0 || !bytes.Equal(disk.program, mounted.program) {
		t.Errorf("a program of %d bytes on disk, and another one of %d bytes in the mount", len(disk.program), len(mounted.program))
	}
	d.stop()
	checkVolume(t, d.volume)
}

// A build is what go makes of the module.
type build struct {
	said    string
	program []byte
}

// buildIn builds and tests the module in a directory. One of its tests fails.
func buildIn(t *testing.T, dir string, env ...string) (b build) {
	t.Helper()
	writeModule(t, filepath.Join(dir, "module"), *buildPackages)
	must.Do(t, os.Mkdir(filepath.Join(dir, "tmp"), 0o755))
	start := time.Now()
	for _, args := range [][]string{
		{"build", "./..."},
		{"build", "-trimpath", "-o", "program", "."},
		{"test", "-vet=off", "./..."},
		{"test", "-vet=off", "./..."}, // from the cache
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = filepath.Join(dir, "module")
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -buildvcs=false", "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local",
			"GOTMPDIR="+filepath.Join(dir, "tmp"))
		cmd.Env = append(cmd.Env, env...)
		out, err := cmd.CombinedOutput()
		cancel()
		b.said += fmt.Sprintf("go %v: %v\n%s", args, err, durations.ReplaceAll(out, nil))
	}
	t.Logf("%s: %v", dir, time.Since(start))
	var err error
	b.program, err = os.ReadFile(filepath.Join(dir, "module", "program"))
	must.Do(t, err)
	return b
}

// durations are how long tests took.
var durations = regexp.MustCompile(`[\t ]\(?[0-9.]+m?s\)?`)

// writeModule makes a module with so many packages, each with a test. A package imports others
// that come before it.
func writeModule(t *testing.T, dir string, packages int) {
	t.Helper()
	files := map[string]string{"go.mod": "module m\n\ngo 1.24\n"}
	for i := range packages {
		imports, sum := "", "1"
		for _, j := range []int{i / 2, i / 3} {
			if j < i && !regexp.MustCompile(fmt.Sprintf(`p%d"`, j)).MatchString(imports) {
				imports += fmt.Sprintf("import \"m/p%d\"\n", j)
				sum += fmt.Sprintf(" + p%d.Sum()", j)
			}
		}
		files[fmt.Sprintf("p%d/p.go", i)] = fmt.Sprintf("package p%d\n\n%s\nfunc Sum() int { return %s }\n", i, imports, sum)
		files[fmt.Sprintf("p%d/p_test.go", i)] = fmt.Sprintf(
			"package p%d\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum() < 1 {\n\t\tt.Error(Sum())\n\t}\n}\n", i)
	}
	last := packages - 1
	files["main.go"] = fmt.Sprintf("package main\n\nimport \"m/p%d\"\n\nfunc main() { println(p%d.Sum()) }\n", last, last)
	files["main_test.go"] = "package main\n\nimport \"testing\"\n\nfunc TestFails(t *testing.T) { t.Error(\"as it should\") }\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	}
}
