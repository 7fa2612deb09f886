package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSameFile copies, moves and links files that are the same one in some way.
func TestSameFile(t *testing.T) {
	t.Parallel()
	const same, none = "is the same file", ""
	for _, test := range []struct{ command, wrong string }{
		{"cp -r :l :m", none}, // hard links of a symbolic link are the same already
		{"cp -a :x :y", none},
		{"cp -aT :z :w", none},
		{"cp -r :l :l", same},
		{"cp -r :l :f", same},
		{"cp -u :f :f", same}, // before the times are compared
		{"cp -ru :l :l", same},
		{"cp -u :l :g", same},
		{"cp -r :l :sub/l :d", "would replace what was put there a moment ago"},
		{"mv :l :g", none}, // f keeps the content
		{"mv :l :f", same},
		{"mv :k :f", same},
		{"mv :f :g", same},
		{"ln -f :f :g", none},
		{"ln -f :f :f", same},
		{"ln -sf f :g", none},
		{"ln -sf f :f", same},
		{"ln -sf one :one", same},
	} {
		t.Run(strings.ReplaceAll(test.command, "/", "."), func(t *testing.T) {
			volume := linkVolume(t)
			var stderr bytes.Buffer
			code := run(t.Context(), strings.Fields(strings.ReplaceAll(test.command, ":", volume+":")), nil, new(bytes.Buffer), &stderr)
			if (code == exitOK) != (test.wrong == none) || !strings.Contains(stderr.String(), test.wrong) {
				t.Errorf("exit code %d, %q; want %q", code, stderr.String(), test.wrong)
			}
			for _, name := range []string{"f", "one"} {
				if got := mustRun(t, "cat", volume+":"+name); got != "content" {
					t.Errorf("%s holds %q", name, got)
				}
			}
			mustRun(t, "check", volume)
		})
	}
}

// linkVolume makes a volume of a file with the names f and g, one with the name one, and symbolic
// links: l and m are one that leads to f, k is another, x and y lead nowhere, and z and w to d.
func linkVolume(t *testing.T) string {
	t.Helper()
	volume := filepath.Join(t.TempDir(), "v.folio")
	mustRun(t, "mkdir", "--create", volume+":d")
	for _, name := range []string{"f", "one"} {
		code := run(t.Context(), []string{"put", "-", volume + ":" + name}, strings.NewReader("content"), new(bytes.Buffer), new(bytes.Buffer))
		if code != exitOK {
			t.Fatal(code)
		}
	}
	for _, command := range []string{"ln :f :g", "ln -s f :l", "ln -s f :k", "ln -s none :x", "ln -s d :z", "mkdir :sub", "ln -s one :sub/l", "ln :l :m", "ln :x :y", "ln -T :z :w"} {
		mustRun(t, strings.Fields(strings.ReplaceAll(command, ":", volume+":"))...)
	}
	return volume
}

// TestCopyOutOntoLinks copies files to disk, to the name of a symbolic link or of another file
// there.
func TestCopyOutOntoLinks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ command, wrong, want string }{
		{"cp :f tofile", "", "file: content"},
		{"cp :f tonone", "leads nowhere", ""},
		{"cp -n :f tonone", "leads nowhere", ""},
		{"cp :l tonone", "leads nowhere", ""},
		{"cp -r :l tofile", "", "tofile -> f"},
		{"cp -r :l tonone", "", "tonone -> f"},
		{"cp -rT :l todir", "", "todir -> f"},
		{"cp -rT :z dir", "is a directory", ""},
		{"cp -r :z new/", "not a directory", ""},
		{"cp -rT : todir", "not a directory", ""},
		{"cp -nT :f dir/", "", "todir -> dir"},
		{"cp -rn :z file", "", "file: old"},
	} {
		t.Run(strings.ReplaceAll(test.command, "/", "."), func(t *testing.T) {
			volume, disk := linkVolume(t), linkDirectory(t)
			args := strings.Fields(strings.ReplaceAll(test.command, ":", volume+":"))
			args[len(args)-1] = disk + "/" + args[len(args)-1]
			var stderr bytes.Buffer
			code := run(t.Context(), args, nil, new(bytes.Buffer), &stderr)
			if (code == exitOK) != (test.wrong == "") || !strings.Contains(stderr.String(), test.wrong) {
				t.Errorf("exit code %d, %q; want %q", code, stderr.String(), test.wrong)
			}
			got := describeLinks(t, disk)
			if before := describeLinks(t, linkDirectory(t)); test.wrong != "" && got != before {
				t.Errorf("changed\n%sto\n%s", before, got)
			}
			if !strings.Contains(got, test.want+"\n") {
				t.Errorf("%s, want %q", got, test.want)
			}
		})
	}
}

// linkDirectory makes a directory on disk of a file, a directory and symbolic links.
func linkDirectory(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	err := os.WriteFile(filepath.Join(dir, "file"), []byte("old"), 0o644)
	err = errors.Join(err, os.Mkdir(filepath.Join(dir, "dir"), 0o755))
	for name, target := range map[string]string{"tofile": "file", "todir": "dir", "tonone": "none"} {
		err = errors.Join(err, os.Symlink(target, filepath.Join(dir, name)))
	}
	if err != nil {
		t.Skip(err) // a system without symbolic links
	}
	return dir
}

// describeLinks lists the files of a directory on disk, with their contents and targets.
func describeLinks(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, d := range list {
		name := filepath.Join(dir, d.Name())
		if target, err := os.Readlink(name); err == nil {
			fmt.Fprintf(&b, "%s -> %s\n", d.Name(), target)
		} else if data, err := os.ReadFile(name); err == nil {
			fmt.Fprintf(&b, "%s: %s\n", d.Name(), data)
		} else {
			fmt.Fprintf(&b, "%s/\n", d.Name())
		}
	}
	return b.String()
}
