package main

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/interrupt"
	"github.com/foliofs/folio/internal/store"
)

// newVolume makes a volume with a file f and a directory d, and returns its path.
func newVolume(t *testing.T) string {
	t.Helper()
	volume := filepath.Join(t.TempDir(), "v.folio")
	mustRun(t, "mkdir", "-p", "--create", volume+":d")
	putText(t, volume+":f", "content")
	return volume
}

func putText(t *testing.T, at, text string) {
	t.Helper()
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"put", "-", at}, strings.NewReader(text), io.Discard, &stderr); code != exitOK {
		t.Fatalf("put %s: %s", at, stderr.String())
	}
}

// listingOf is all there is in a volume.
func listingOf(t *testing.T, volume string) string {
	t.Helper()
	return mustRun(t, "ls", "-lR", volume) + mustRun(t, "cat", volume+":f")
}

// Commands that fail leave a volume as it is, and say why in one line.
func TestRefusedCommandsChangeNothing(t *testing.T) {
	t.Parallel()
	volume := newVolume(t)
	before := listingOf(t, volume)
	at := func(name string) string { return volume + ":" + name }
	for _, args := range [][]string{
		{"mkdir", at("new"), at("a\x00b")},
		{"touch", at("new"), at("a\x00b")},
		{"touch", at("new"), at(strings.Repeat("n", 766))},
		{"mkdir", "-p", at("new/" + strings.Repeat("n", 766))},
		{"mkdir", "-p", at(strings.Repeat("d/", 20000))},
		{"rm", at("f"), at("a\x00b")},
		{"rm", "-r", at("f"), at("")},
		{"mv", at("f"), at("a\x00b")},
		{"mv", at("f"), at("d/" + strings.Repeat("n", 766))},
		{"cp", at("f"), at("a\x00b")},
		{"cp", at("f"), at("d"), at("nowhere")},
		{"cp", "-r", at("f"), at("d"), at("f")},
		{"ln", at("f"), at("d"), at("d")},
		{"ln", "-s", "a\x00b", at("l")},
		{"ln", "-s", strings.Repeat("t", 40000), at("l")},
		{"chmod", "600", at("f"), at("a\x00b")},
		{"put", "-", at("d")},
		{"put", "/no/such/file", at("")},
		{"put", volume, "/dev/null/x", at("")},
		{"put", "a\x00b", at("")},
		{"get", at("f"), "a\x00b"},
		{"get", at("a\x00b"), t.TempDir()},
	} {
		code, _, stderr := runFolio(t, args...)
		if code != exitFailure || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "folio: ") || strings.Contains(stderr, "\x00") {
			t.Errorf("%.100q: exit code %d, %.200q", args, code, stderr)
		}
		if after := listingOf(t, volume); after != before {
			t.Fatalf("%.100q changed\n%s\nto\n%s", args, before, after)
		}
	}
}

// A stream that breaks, and a file that is not what it was, end a put without a trace.
func TestBrokenSource(t *testing.T) {
	t.Parallel()
	volume := newVolume(t)
	before := listingOf(t, volume)
	stdin := io.MultiReader(bytes.NewReader(make([]byte, 1<<20)), iotest.ErrReader(syscall.EIO))
	var stderr bytes.Buffer
	code := run(t.Context(), []string{"put", volume, "-", volume + ":f"}, stdin, io.Discard, &stderr)
	if code != exitFailure || stderr.String() != "folio: standard input: input/output error\n" {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
	if after := listingOf(t, volume); after != before {
		t.Errorf("became %s", after)
	}
}

// While another process writes, a command waits, and then says that it was in vain.
func TestBusyVolume(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits as long as a user would")
	}
	volume := newVolume(t)
	v, err := folio.Open(volume, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	err = v.Update(t.Context(), func(tx *folio.Tx) error {
		if err := tx.WriteFile("g", nil, 0o600); err != nil {
			return err
		}
		code, _, stderr := runFolio(t, "rm", volume+":f")
		if code != exitFailure || !strings.HasSuffix(stderr, "; try again when the other program is done\n") || strings.Contains(stderr, "BusyTimeout") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("exit code %d, %q", code, stderr)
		}
		if got := mustRun(t, "cat", volume+":f"); got != "content" { // who reads need not wait
			t.Errorf("read %q", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	mustRun(t, "rm", volume+":f")
}

// While standard input is read, and it may take long, other programs write to the volume.
func TestPutWaitsUnlocked(t *testing.T) {
	t.Parallel()
	volume := newVolume(t)
	stdin := &hookReader{r: strings.NewReader("new"), hook: func() { mustRun(t, "touch", volume+":meanwhile") }}
	if code := run(t.Context(), []string{"put", "-", volume + ":f"}, stdin, io.Discard, io.Discard); code != exitOK {
		t.Fatal(code)
	}
	if got := mustRun(t, "cat", volume+":f"); got != "new" {
		t.Errorf("%q", got)
	}
	mustRun(t, "stat", volume+":meanwhile")
}

// An interrupted command changes nothing, and nothing stays beside the volume, even if it waits for
// a stream that does not come.
func TestWritingIsInterrupted(t *testing.T) {
	t.Parallel()
	volume := newVolume(t)
	before := listingOf(t, volume)
	for _, args := range [][]string{
		{"put", "-", volume + ":f"},
		{"put", "-r", t.TempDir(), volume},
		{"cp", "-r", volume + ":d", volume + ":e"},
		{"rm", "-r", volume + ":d"},
		{"get", "-r", volume + ":", filepath.Join(t.TempDir(), "out")},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		r, w := io.Pipe()
		stdin := &hookReader{r: r, hook: func() { cancel(&interrupt.Error{Signal: syscall.SIGINT}) }}
		if args[1] != "-" {
			cancel(&interrupt.Error{Signal: syscall.SIGINT})
		}
		var stderr bytes.Buffer
		if code := run(ctx, args, stdin, io.Discard, &stderr); code != 130 || stderr.String() != "folio: interrupted\n" {
			t.Errorf("%q: exit code %d, %q", args, code, stderr.String())
		}
		_ = w.Close()
		if after := listingOf(t, volume); after != before {
			t.Errorf("%q: became %s", args, after)
		}
		wantNames(t, filepath.Dir(volume), "v.folio")
	}
}

// Whatever names and links a volume holds: every command ends, and nothing is written outside.
func TestHostileVolumesAreWritten(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	for name, entries := range map[string][]hostileEntry{
		"up":         {{1, "..", 3, store.File}},
		"slash":      {{1, "a/../../b", 3, store.File}},
		"empty":      {{1, "", 3, store.File}},
		"cycle":      {{1, "d", 2, store.Dir}, {2, "again", 2, store.Dir}},
		"root below": {{1, "d", 2, store.Dir}, {2, "root", 1, store.Dir}},
		"no inode":   {{1, "f", 99, store.File}},
		"wrong type": {{1, "d", 3, store.Dir}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			other := filepath.Join(work, "other.folio")
			mustRun(t, "mkdir", "-p", "--create", other)
			for _, args := range [][]string{
				{"get", "-r", "VOLUME:", filepath.Join(work, "out")},
				{"cp", "-a", "VOLUME:", other + ":x"},
				{"cp", "-r", "VOLUME:d", "VOLUME:e"},
				{"chmod", "-R", "755", "VOLUME:"},
				{"mv", "VOLUME:d", "VOLUME:e"},
				{"rm", "-r", "VOLUME:d", "VOLUME:f"},
			} {
				volume := makeHostile(t, outside, entries...)
				for i := range args {
					args[i] = strings.Replace(args[i], "VOLUME", volume, 1)
				}
				code, _, stderr := runFolio(t, args...)
				if code == exitOK && stderr != "" || code != exitOK && strings.Count(stderr, "\n") != 1 {
					t.Errorf("%q: exit code %d, %q", args, code, stderr)
				}
			}
			if got := mustRun(t, "ls", other); got != "" {
				t.Errorf("copied %q", got)
			}
			wantNames(t, outside)
		})
	}
}

// An archive copy of all kinds of files, in and out and between volumes, is the same.
func TestArchiveCopies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src, a, b, out := filepath.Join(dir, "src"), filepath.Join(dir, "a.folio"), filepath.Join(dir, "b.folio"), filepath.Join(dir, "out")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(src, "d", "e"), 0o700),
		os.WriteFile(filepath.Join(src, "f"), bytes.Repeat([]byte("0123456789"), 50000), 0o640),
		os.WriteFile(filepath.Join(src, "d", "holes"), []byte("x"), 0o600),
		os.Truncate(filepath.Join(src, "d", "holes"), 3e6),
		os.Chmod(filepath.Join(src, "f"), 0o750|fs.ModeSetuid),
		os.Chmod(filepath.Join(src, "d", "e"), 0o777|fs.ModeSticky),
		os.Link(filepath.Join(src, "f"), filepath.Join(src, "d", "hard")),
		os.Symlink("../f", filepath.Join(src, "d", "soft")),
		os.Chtimes(filepath.Join(src, "f"), time.Unix(1e9, 5), time.Unix(1e9, 7)),
		os.Chtimes(filepath.Join(src, "d"), time.Unix(1e9, 5), time.Unix(1e9, 7)),
	} {
		if err != nil {
			t.Skip("this system knows no such files:", err)
		}
	}
	mustRun(t, "cp", "-a", "--create", src, a+":")
	mustRun(t, "cp", "-a", "--create", a+":src", b+":x")
	mustRun(t, "cp", "-a", b+":x", b+":y")
	mustRun(t, "get", "-a", b+":y", out)
	if err := compareTrees(src, out); err != nil {
		t.Error(err)
	}
	compareContents(t, src, out)
	for _, volume := range []string{a, b} {
		if got := mustRun(t, "check", volume); !strings.Contains(got, ": ok: ") {
			t.Error(got)
		}
	}
}
