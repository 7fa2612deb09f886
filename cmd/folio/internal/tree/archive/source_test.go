package archive

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

// open opens a file that holds data.
func open(t *testing.T, data []byte) (tree.Source, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(name, nil, nil)
}

// collectData collects a file that holds data, or, if it is a stream, standard input.
func collectData(t *testing.T, data []byte, stream bool) ([]string, error) {
	t.Helper()
	src, err := Open("-", bytes.NewReader(data), nil)
	if !stream {
		src, err = open(t, data)
	}
	if err != nil {
		return nil, err
	}
	return treetest.Collect(src)
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		data string
		want error
	}{
		{"empty", "", tree.ErrEmpty},
		{"text", "hello", tree.ErrKind},
		{"long text", strings.Repeat("hello\n", 1000), tree.ErrKind},
		{"volume", sqliteMagic + strings.Repeat("\x00", 52) + "Foli" + strings.Repeat("\x00", 4000), tree.ErrVolume},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, stream := range []bool{false, true} {
				_, err := collectData(t, []byte(tt.data), stream)
				if !errors.Is(err, tt.want) && !(stream && errors.Is(err, tree.ErrSeek)) {
					t.Errorf("stream %t: got %v, want %v", stream, err, tt.want)
				}
			}
		})
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none"), nil, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestOpenNamesTheProgram(t *testing.T) {
	t.Parallel()
	for head, program := range map[string]string{
		"\xfd7zXZ\x00": "xz -dc", "\x1f\x9d\x90": "gzip -dc", "LZIP\x01": "lzip -dc", "\x5d\x00\x00\x80\x00": "xz -dc",
	} {
		for _, stream := range []bool{false, true} {
			_, err := collectData(t, []byte(head+"........."), stream)
			if e, ok := errors.AsType[*tree.CompressedError](err); !ok || e.Program != program {
				t.Errorf("%q, stream %t: %v", head, stream, err)
			}
		}
	}
}

func TestMaxSize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, size := range map[string]int{"a": 10, "b": 20, "c": 2 << 20} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for limit, want := range map[int64]string{0: "", 2<<20 + 30: "", 2<<20 + 29: "c", 29: "b", 9: "a"} {
		src, err := Open(dir, nil, &tree.Options{MaxSize: limit})
		if err != nil {
			t.Fatal(err)
		}
		_, err = treetest.Collect(src)
		if e, ok := errors.AsType[*tree.EntryError](err); ok != (want != "") || ok && (e.Name != want || !errors.Is(err, tree.ErrTooLarge)) {
			t.Errorf("limit %d: got %v, want %q", limit, err, want)
		}
	}
}
