package native

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// makers make files that Open must refuse, and say how.
var makers = map[string]struct {
	make func(t *testing.T, path string)
	is   error
	text string
}{
	"nothing":   {func(*testing.T, string) {}, fs.ErrNotExist, ""},
	"directory": {func(t *testing.T, path string) { must.Do(t, os.Mkdir(path, 0o700)) }, nil, "directory"},
	"empty":     {func(t *testing.T, path string) { must.Do(t, os.WriteFile(path, nil, 0o600)) }, sqlitefile.ErrNotDatabase, "empty"},
	"text": {
		func(t *testing.T, path string) {
			must.Do(t, os.WriteFile(path, []byte(strings.Repeat("hello\n", 100)), 0o600))
		},
		sqlitefile.ErrNotDatabase, "",
	},
	"foreign": {
		func(t *testing.T, path string) { makeDatabase(t, path, 0x0f055112, 1) },
		store.ErrNotVolume, "a SQLite database, but not a Folio volume (application_id 0x0f055112",
	},
	"newer": {
		func(t *testing.T, path string) { makeDatabase(t, path, store.ApplicationID, 3) },
		store.ErrNewerVersion, "update",
	},
	"clones without a table": {
		func(t *testing.T, path string) { makeDatabase(t, path, store.ApplicationID, 2, store.Schema...) },
		store.ErrDamaged, "there is no table origin",
	},
	"version 0": {
		func(t *testing.T, path string) { makeDatabase(t, path, store.ApplicationID, 0, store.Schema...) },
		store.ErrDamaged, "user_version is 0",
	},
	"negative version": {
		func(t *testing.T, path string) { makeDatabase(t, path, store.ApplicationID, -1, store.Schema...) },
		store.ErrDamaged, "user_version is -1",
	},
	"no tables": {
		func(t *testing.T, path string) { makeDatabase(t, path, store.ApplicationID, 1) },
		store.ErrDamaged, "node",
	},
	"no orphans": {
		func(t *testing.T, path string) { makeDatabase(t, path, store.ApplicationID, 1, store.Schema[:4]...) },
		store.ErrDamaged, "there is no table orphan",
	},
	"other columns": {
		func(t *testing.T, path string) {
			makeDatabase(t, path, store.ApplicationID, 1, `CREATE TABLE node (ino INTEGER PRIMARY KEY, mode)`)
		},
		store.ErrDamaged, "node",
	},
	"other key": {
		func(t *testing.T, path string) {
			makeDatabase(t, path, store.ApplicationID, 1, store.Schema[0], `CREATE TABLE entry (parent, name, ino, type)`)
		},
		store.ErrDamaged, "entry",
	},
}

func makeDatabase(t *testing.T, path string, id uint32, version int32, schema ...string) {
	t.Helper()
	o := &sqlitefile.BuildOptions{ApplicationID: id, UserVersion: version}
	must.Do(t, sqlitefile.Build(context.Background(), path, o, func(b *sqlitefile.Builder) error {
		for _, sql := range schema {
			if err := b.Create(sql); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for name, m := range makers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "volume")
			m.make(t, path)
			s, err := Open(path, nil)
			if err == nil {
				_ = s.Close()
				t.Fatal("no error")
			}
			if m.is != nil && !errors.Is(err, m.is) {
				t.Errorf("%v, want %v", err, m.is)
			}
			var pe *fs.PathError
			if !errors.As(err, &pe) || pe.Path != path || errors.As(pe.Err, new(*fs.PathError)) {
				t.Errorf("%#v: want one PathError with %s", err, path)
			}
			if text := err.Error(); !strings.Contains(text, m.text) || strings.Count(text, path) != 1 || strings.Contains(text, "\n") {
				t.Errorf("%q: want one line with %q and the path", text, m.text)
			}
		})
	}
}

// TestShrink cuts a volume off while it is read.
func TestShrink(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "volume")
		const files = 100
		must.Do(t, Create(context.Background(), path, new(CreateOptions), func(b *Builder) error { return writeFiles(b, files) }))
		s, err := Open(path, &Options{NoMmap: plain})
		must.Do(t, err)
		must.Do(t, os.Truncate(path, 8192))
		rx, err := s.Begin(context.Background())
		if err != nil {
			t.Logf("plain %v: Begin: %v", plain, err)
			continue
		}
		failed := 0
		for i := range files {
			n := store.Node{Ino: store.Ino(2 + i), Mode: store.ModeRegular, Size: 5000}
			if _, err := rx.ReadAt(n, make([]byte, 5000), 0); err != nil {
				failed++
			}
			_, _ = rx.Node(n.Ino)
			_, _ = rx.Lookup(1, "a")
			_ = rx.List(1, "", 0, new(store.Listing))
			_, _ = rx.Xattrs(1)
		}
		if failed == 0 {
			t.Errorf("plain %v: all contents were read from a file that is not there any more", plain)
		}
		rx.End()
		_, _ = s.Check(context.Background(), nil)
		_ = s.Close()
	}
}

func writeFiles(b *Builder, n int) error {
	content := []byte(strings.Repeat("content ", 5000/8))
	root := store.Node{Ino: 1, Mode: store.ModeDir, Nlink: 2}
	err := b.Node(&root)
	for i := range n {
		ino := store.Ino(2 + i)
		_, written := b.Bytes(ino, content)
		file := store.Node{Ino: ino, Mode: store.ModeRegular, Nlink: 1, Size: int64(len(content))}
		name := store.Entry{Name: string(rune('a' + i)), Ino: ino, Type: store.File}
		err = errors.Join(err, written, b.Node(&file), b.Entry(1, name))
	}
	return err
}
