package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A commandSide is a whole command, which is timed from its start to its end. In each word of its
// commands, $dir is a directory on the disk of TMPDIR, $goroot the Go distribution, and $folio the
// command of this project.
type commandSide struct {
	name   string
	once   []string // commands that prepare the side, untimed
	before []string // commands that come before each run, untimed
	run    string
	// check is the words of a command that comes afterwards, untimed. Its output, or the output of
	// run if there is none, must have the same number of lines for all sides. So all of them did
	// the same.
	check []string
}

// BenchmarkImport stores the Go sources in a volume, in a directory and in an archive of SQLite.
func BenchmarkImport(b *testing.B) {
	newWorkshop(b).compare(b, []commandSide{
		{
			name: "folio", before: []string{"rm -rf $dir/v.folio", "sync"}, run: "$folio import -q $goroot/src $dir/v.folio",
			check: []string{"$folio", "find", "-t", "f", "$dir/v.folio"},
		},
		{name: "cp", before: []string{"rm -rf $dir/copy", "sync"}, run: "cp -a $goroot/src $dir/copy", check: []string{"find", "$dir/copy", "-type", "f"}},
		{
			name: "archive", before: []string{"rm -rf $dir/a.sqlar", "sync"}, run: "sqlite3 $dir/a.sqlar -A -c -C $goroot src",
			check: []string{"sqlite3", "$dir/a.sqlar", "select name from sqlar where mode & 61440 = 32768"},
		},
	})
}

// BenchmarkSync brings copies of the Go distribution up to date that are so already.
func BenchmarkSync(b *testing.B) {
	newWorkshop(b).compare(b, []commandSide{
		{
			name: "folio", once: []string{"$folio import -q $goroot $dir/v.folio", "sync"}, run: "$folio sync -q $goroot $dir/v.folio",
			check: []string{"$folio", "find", "-t", "f", "$dir/v.folio"},
		},
		{
			name: "rsync", once: []string{"rsync -a $goroot/ $dir/copy/", "sync"}, run: "rsync -a $goroot/ $dir/copy/",
			check: []string{"find", "$dir/copy", "-type", "f"},
		},
	})
}

// BenchmarkGrep searches the Go distribution, in a volume and in a directory. A pattern has no dot,
// because a dot of GNU grep matches no byte that ends a line or is no text.
func BenchmarkGrep(b *testing.B) {
	w := newWorkshop(b)
	for _, command := range []string{"$folio import -q $goroot $dir/v.folio", "cp -a $goroot $dir/copy", "sync"} {
		_, err := w.do(strings.Fields(command)...)
		must(b, err)
	}
	for _, p := range []struct{ name, args string }{
		{"literal", "ReadAll[(]"},
		{"case", "-i ReadAll[(]"},
		{"prefix", "x[a-z]+Error"},
		{"either", "-l error|panic"},
		{"digits", "[0-9]{4}-[0-9]{2}"},
	} {
		b.Run(p.name, func(b *testing.B) {
			w.compare(b, []commandSide{
				{name: "folio", run: "$folio grep " + p.args + " $dir/v.folio"},
				{name: "grep", run: "grep -rE " + p.args + " $dir/copy"},
			})
		})
	}
}

// A workshop is the variables of commands.
type workshop map[string]string

func newWorkshop(b *testing.B) workshop {
	b.Helper()
	program, err := built(b, "folio", "../../../cmd/folio", ".")
	must(b, err)
	goroot, err := exec.Command("go", "env", "GOROOT").Output() // package build does not know it in a trimmed program
	must(b, err)
	return workshop{"dir": b.TempDir(), "goroot": strings.TrimSpace(string(goroot)), "folio": program}
}

// compare runs each side, and compares the numbers of lines by which they are checked. A side whose
// program is not installed is skipped.
func (w workshop) compare(b *testing.B, sides []commandSide) {
	want := -1
	for i := range sides {
		b.Run(sides[i].name, func(b *testing.B) {
			b.StopTimer()
			got, err := w.turn(b, &sides[i])
			if errors.As(err, new(*exec.Error)) {
				b.Skip(err)
			}
			must(b, err)
			if want >= 0 && got != want {
				b.Fatalf("it has %d lines to show, the other side %d", got, want)
			}
			want = got
		})
	}
}

// turn runs a side b.N times. It returns the number of lines by which the side is checked.
func (w workshop) turn(b *testing.B, s *commandSide) (lines int, err error) {
	for _, command := range s.once {
		if _, err := w.do(strings.Fields(command)...); err != nil {
			return 0, err
		}
	}
	for range b.N {
		for _, command := range s.before {
			if _, err := w.do(strings.Fields(command)...); err != nil {
				return 0, err
			}
		}
		b.StartTimer()
		lines, err = w.do(strings.Fields(s.run)...)
		b.StopTimer()
		if err == nil && s.check != nil {
			lines, err = w.do(s.check...)
		}
		if err != nil {
			return 0, err
		}
	}
	return lines, nil
}

// do runs a command and counts the lines of its output and its complaints. They go to a file,
// because some programs stop early when no process reads their output.
func (w workshop) do(command ...string) (lines int, err error) {
	var words []string
	for _, word := range command {
		words = append(words, os.Expand(word, func(name string) string { return w[name] }))
	}
	out, err := os.Create(filepath.Join(w["dir"], "out"))
	if err != nil {
		return 0, err
	}
	defer out.Close()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	ran := cmd.Run()
	text, err := os.ReadFile(out.Name())
	if err != nil {
		return 0, err
	}
	if errors.As(ran, new(*exec.Error)) {
		return 0, ran
	}
	if ran != nil {
		return 0, fmt.Errorf("%s: %w: %s", words[0], ran, bytes.TrimSpace(text))
	}
	return bytes.Count(text, []byte("\n")), nil
}
