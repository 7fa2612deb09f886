package folio_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/foliofs/folio"
)

// killVariable tells a process that it is a writer of TestKilledWriters: where the volume is, and which writer it is.
const killVariable = "FOLIO_TEST_WRITER"

// TestKilledWriters kills processes while they write to one volume, again and again. Every call that was acknowledged must have happened, and
// what was not must have happened as a whole or not at all.
func TestKilledWriters(t *testing.T) {
	if job := os.Getenv(killVariable); job != "" {
		writeUntilKilled(t, job)
		return
	}
	t.Parallel()
	r := random(t)
	v := empty(t)
	info, err := v.Info(t.Context())
	must(t, err)
	acknowledged := make([]int, 4)
	for range 3 {
		var wg sync.WaitGroup
		for w := range acknowledged {
			enough := 20 + r.IntN(150)
			wg.Go(func() { acknowledged[w] = killAfter(t, info.Path, w, acknowledged[w], enough) })
		}
		wg.Wait()
		for w, n := range acknowledged {
			wantWritten(t, v, w, n)
		}
		wantClean(t, v)
	}
	must(t, v.Close())
	v, err = folio.Open(info.Path, nil)
	must(t, err)
	defer v.Close()
	report, err := v.Check(t.Context())
	must(t, err)
	files := int64(1)
	must(t, fs.WalkDir(v.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		if name != "." {
			files++
		}
		return err
	}))
	if !report.OK() || report.Nodes != files {
		t.Errorf("%d inodes for %d files: what the killed ones had open is left; %+v", report.Nodes, files, report.Problems)
	}
}

// killAfter runs a writer that goes on after step from, and kills it once it has acknowledged so many steps more. It returns how many it has
// acknowledged in all.
func killAfter(t *testing.T, path string, w, from, enough int) int {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledWriters$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %s", killVariable, w, from, path))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return from
	}
	last := from
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Errorf("writer %d: %s", w, lines.Text())
			break
		}
		if last = n; n >= from+enough {
			_ = cmd.Process.Kill() // and go on reading what it had said
		}
	}
	_ = cmd.Wait()
	return last
}

// writeUntilKilled makes one step after another: it replaces a file, adds one that stays, appends a line, and keeps a file open that has no
// name.
func writeUntilKilled(t *testing.T, job string) {
	var w, from int
	var path string
	_, err := fmt.Sscanf(job, "%d %d %s", &w, &from, &path)
	must(t, err)
	v, err := folio.Open(path, nil)
	must(t, err)
	for n := from + 1; ; n++ {
		must(t, v.Update(t.Context(), func(tx *folio.Tx) error {
			return errors.Join(tx.WriteFile(fmt.Sprint(w, ".a"), stepContent(n), 0o644), tx.WriteFile(fmt.Sprint(w, ".b"), stepContent(n), 0o644))
		}))
		must(t, v.WriteFile(fmt.Sprint(w, ".new"), stepContent(n), 0o644))
		must(t, v.Rename(fmt.Sprint(w, ".new"), fmt.Sprint(w, ".c")))
		f, err := v.OpenFile("log", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		must(t, err)
		_, err = f.WriteString(fmt.Sprintln(w, n))
		must(t, err)
		must(t, f.Close())
		if n%10 == 0 {
			f, err := v.Create(fmt.Sprint(w, ".unnamed")) // and never close it
			must(t, err)
			_, err = f.Write(stepContent(n))
			must(t, err)
			must(t, v.Remove(fmt.Sprint(w, ".unnamed")))
		}
		fmt.Println(n)
	}
}

func stepContent(n int) []byte {
	return []byte(strings.Repeat(fmt.Sprint(n, " "), 1+n*37%5000))
}

// wantWritten checks what writer w must have done in n steps, the next of which may have begun.
func wantWritten(t *testing.T, v *folio.FS, w, n int) {
	t.Helper()
	var found [3]string
	for i, name := range []string{"a", "b", "c"} {
		p, err := v.ReadFile(fmt.Sprint(w, ".", name))
		must(t, err)
		if found[i] = string(p); found[i] != string(stepContent(n)) && found[i] != string(stepContent(n+1)) {
			t.Errorf("writer %d, %s: %d bytes of neither step %d nor the next: %.20q", w, name, len(p), n, p)
		}
	}
	if found[0] != found[1] {
		t.Errorf("writer %d: one half of a transaction", w)
	}
	p, err := v.ReadFile("log")
	must(t, err)
	seen := make(map[int]bool)
	for line := range strings.Lines(string(p)) {
		var who, step int
		if _, err := fmt.Sscan(line, &who, &step); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if who == w {
			seen[step] = true
		}
	}
	for step := 1; step <= n; step++ {
		if !seen[step] {
			t.Fatalf("writer %d: line %d of %d is missing", w, step, n)
		}
	}
}
