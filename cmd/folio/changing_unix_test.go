//go:build linux || darwin

package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The warning about a socket comes while the tree is being listed, and so it is the moment to
// change the tree.
func TestSourceChanges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(dir string) error
		want   string
	}{
		{"vanishes", func(dir string) error { return os.Remove(filepath.Join(dir, "z")) }, "z: vanished while it was read; "},
		{"grows", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "a"), []byte("longer than before"), 0o600)
		}, "a: changed while it was read; "},
		{"shrinks", func(dir string) error { return os.Truncate(filepath.Join(dir, "a"), 1) }, "a: changed while it was read; "},
		{"is replaced", func(dir string) error {
			return os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "a"))
		}, "a: changed while it was read; "},
		{"is gone", func(dir string) error { return os.Remove(filepath.Join(dir, "a")) }, "a: vanished while it was read; "},
		{"becomes a link", func(dir string) error {
			_ = os.Remove(filepath.Join(dir, "a"))
			return os.Symlink("other", filepath.Join(dir, "a"))
		}, "a: changed while it was read; "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			src := makeChanging(t, work)
			stderr := &hookWriter{hook: func() {
				if err := tt.change(src); err != nil {
					t.Error(err)
				}
			}}
			code := run(t.Context(), []string{"import", src, filepath.Join(work, "v.folio")}, nil, io.Discard, stderr)
			_, line, _ := strings.Cut(stderr.String(), "\n") // after the warning
			if code != exitFailure || !strings.HasPrefix(line, "folio: "+src+"/"+tt.want) || strings.Count(line, "\n") != 1 {
				t.Errorf("exit code %d, %q", code, line)
			}
			wantNames(t, work, "src")
		})
	}
}

func makeChanging(t *testing.T, work string) string {
	t.Helper()
	src := filepath.Join(work, "src")
	if err := os.Mkdir(src, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "other", "z"} {
		if err := os.WriteFile(filepath.Join(src, name), []byte("content"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", filepath.Join(src, "socket"))
	if err != nil {
		t.Skip("no sockets here:", err)
	}
	t.Cleanup(func() { l.Close() })
	return src
}
