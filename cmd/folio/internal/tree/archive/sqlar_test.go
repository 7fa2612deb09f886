package archive

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
	"github.com/foliofs/folio/sqlitefile"
)

const sqlarTestSchema = `CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode INT, mtime INT, sz INT, data BLOB)`

// makeSqlar makes an archive of rows in the order of the columns.
func makeSqlar(t *testing.T, rows ...[]any) tree.Source {
	t.Helper()
	src, err := trySqlar(t, sqlarTestSchema, rows...)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func trySqlar(t *testing.T, schema string, rows ...[]any) (tree.Source, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.sqlar")
	err := sqlitefile.Build(context.Background(), name, nil, func(b *sqlitefile.Builder) error {
		if err := b.Create(schema); err != nil {
			return err
		}
		table, err := b.Table("sqlar")
		for i, row := range rows {
			err = errors.Join(err, table.Append(int64(i+1), row...))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return Open(name, os.Stdin, nil)
}

func deflated(t *testing.T, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSqlarKinds(t *testing.T) {
	t.Parallel()
	text, large := strings.Repeat("text", 100), strings.Repeat("y", 3*tree.SmallSize)
	var lines []string
	src := makeSqlar(
		t,
		[]any{"d/packed", 0o100644, 7, len(text), deflated(t, text)},
		[]any{"d/plain", 0o100755, 7, 3, []byte("abc")},
		[]any{"d", 0o040750, 7, 0, nil},
		[]any{"l", 0o120777, 7, -1, "../out"},
		[]any{"empty", 0o100600, 7, 0, nil},
		[]any{"large", 0o100600, 7, len(large), deflated(t, large)},
		[]any{"no type", 0o640, 7, 1, []byte("x")},
		[]any{"pipe", 0o010600, 7, 0, nil},
	)
	defer src.Close()
	err := src.Walk(t.Context(), func(e *tree.Entry) error {
		line, err := treetest.Describe(e)
		lines = append(lines, line)
		if !e.ModTime.Equal(time.Unix(7, 0)) {
			t.Errorf("%s: %v", e.Name, e.ModTime)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	treetest.WantLines(t, lines, []string{
		"d drwxr-x---",
		"d/packed -rw-r--r-- 400 bytes",
		`d/plain -rwxr-xr-x "abc"`,
		`empty -rw------- ""`,
		"l Lrwxrwxrwx -> ../out",
		`large -rw------- 3145728x"y"`,
		`no type -rw-r----- "x"`,
		"pipe prw-------",
	})
}

func TestSqlarHostile(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("z", 2*tree.SmallSize)
	tests := []struct {
		name string
		row  []any
		want error
	}{
		{"absolute and up", []any{"/../passwd", 0o100644, 0, 1, []byte("x")}, tree.ErrName},
		{"up", []any{"a/../../b", 0o100644, 0, 1, []byte("x")}, tree.ErrName},
		{"device", []any{"d", 0o020666, 0, 0, nil}, tree.ErrType},
		{"negative", []any{"n", 0o100644, 0, -5, []byte("x")}, folio.ErrTooLarge},
		{"huge", []any{"n", 0o100644, 0, int64(1) << 60, []byte("x")}, folio.ErrTooLarge},
		{"not zlib", []any{"z", 0o100644, 0, 100, []byte("hello")}, tree.ErrDamaged},
		{"too short", []any{"s", 0o100644, 0, 100, deflated(t, "hello")}, tree.ErrDamaged},
		{"too long", []any{"s", 0o100644, 0, 3, deflated(t, "hello")}, tree.ErrDamaged},
		{"large, too short", []any{"s", 0o100644, 0, int64(1) << 40, deflated(t, big)}, tree.ErrDamaged},
		{"large, too long", []any{"s", 0o100644, 0, tree.SmallSize + 1, deflated(t, big)}, tree.ErrDamaged},
		{"long target", []any{"l", 0o120777, 0, -1, strings.Repeat("x", maxTarget+1)}, tree.ErrTarget},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := treetest.Collect(makeSqlar(t, tt.row))
			if e, ok := errors.AsType[*tree.EntryError](err); !ok || !errors.Is(err, tt.want) || e.Name != tt.row[0] {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestSqlarChecksum(t *testing.T) {
	t.Parallel()
	data := deflated(t, "hello hello hello")
	data[len(data)-1] ^= 1
	if _, err := treetest.Collect(makeSqlar(t, []any{"a", 0o100644, 0, 17, data})); !errors.Is(err, tree.ErrChecksum) {
		t.Errorf("got %v", err)
	}
}

func TestSqlarOtherDatabase(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{`CREATE TABLE sqlar(name TEXT, data BLOB)`, `CREATE TABLE sqlar(a, b, c, d, e)`} {
		if _, err := trySqlar(t, schema); !errors.Is(err, tree.ErrDatabase) {
			t.Errorf("%s: got %v", schema, err)
		}
	}
}
