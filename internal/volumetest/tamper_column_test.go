package volumetest

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/race"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// The inodes of columnBase.
const (
	inoFile   = 2 // f: hello, with an extended attribute user.a
	inoDir    = 3 // d
	inoBelow  = 4 // d/g: empty
	inoLink   = 5 // l: leads to f
	inoPipe   = 6 // p
	inoDevice = 7 // c
)

// columnBase returns a volume with a file of each kind.
func columnBase(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "base.folio")
	v, err := folio.Open(path, &folio.Options{Create: true})
	must.Do(t, err)
	must.Do(t, errors.Join(
		v.WriteFile("f", []byte("hello"), 0o644), v.Mkdir("d", 0o755), v.WriteFile("d/g", nil, 0o644), v.Symlink("f", "l"),
		v.Mknod("p", fs.ModeNamedPipe|0o644, 0), v.Mknod("c", fs.ModeDevice|fs.ModeCharDevice|0o644, 0x103), v.SetXattr("f", "user.a", []byte("value")),
	))
	for name, ino := range map[string]store.Ino{"f": inoFile, "d": inoDir, "d/g": inoBelow, "l": inoLink, "p": inoPipe, "c": inoDevice} {
		info, err := v.Lstat(name)
		must.Do(t, err)
		if n := info.Sys().(*folio.Node); n.Ino != uint64(ino) {
			t.Fatalf("%s is inode %d", name, n.Ino)
		}
	}
	must.Do(t, v.Sync(t.Context()))
	must.Do(t, v.Compact(t.Context(), nil))
	must.Do(t, v.Close())
	p, err := os.ReadFile(path)
	must.Do(t, err)
	return p
}

// A rowChange gives a column of a row another value. The columns of a table are those of
// docs/reference/format.md, in their order.
type rowChange struct {
	table  string
	key    []any // of the row
	column int
	value  any
}

func inNode(ino int64, column int, value any) rowChange {
	return rowChange{"node", []any{ino}, column, value}
}

// Columns of table node.
const (
	colIno = iota
	colMode
	colNlink
	colUID
	colGID
	colSize
	colHoles
	colMtime
	colCtime
	colAtime
	colRdev
)

// make makes the change: a row with another value in the place of the old one.
func (c rowChange) make(tx *sqlitefile.Tx) error {
	table, err := tx.Table(c.table)
	if err != nil {
		return err
	}
	if len(c.key) == 0 { // a new row
		return table.Put(c.value.(int64), c.value)
	}
	var row sqlitefile.Row
	var ok bool
	rowid, _ := c.key[0].(int64)
	if table.WithoutRowid() {
		row, ok, err = table.Find(c.key...)
	} else {
		row, ok, err = table.Get(rowid)
	}
	if err != nil || !ok {
		return fmt.Errorf("%s %v: %v, %w", c.table, c.key, ok, err)
	}
	values := make([]any, row.Len())
	for i := range values {
		v, err := row.Value(i)
		if err != nil {
			return err
		}
		values[i] = v.Any()
	}
	if table.WithoutRowid() {
		if _, err := table.DeleteKey(values[:2]...); err != nil {
			return err
		}
		values[c.column] = c.value
		return table.PutKey(values...)
	}
	if c.column > 0 {
		_, err = table.Set(rowid, c.column, c.value)
		return err
	}
	values[0] = c.value
	_, err = table.Delete(rowid)
	return errors.Join(err, table.InsertRowid(c.value.(int64), values...))
}

// A violation is a column of docs/reference/format.md with a value that it cannot have, and the
// report of Check. Repair must leave it if left is set, because it cannot know the right value.
type violation struct {
	name   string
	change rowChange
	want   string
	left   bool
}

// violations are those of each column.
func violations() (list []violation) {
	add := func(column, want string, left bool, changes ...rowChange) {
		for _, c := range changes {
			name := fmt.Sprintf("%s of %v becomes %T %.20s", column, c.key, c.value, fmt.Sprint(c.value))
			list = append(list, violation{name, c, want, left})
		}
	}
	// integers returns changes to values that are not integers.
	kinds := func(ino int64, column int) []rowChange {
		return []rowChange{inNode(ino, column, "text"), inNode(ino, column, 1.5), inNode(ino, column, []byte("5"))}
	}
	huge, file := int64(1)<<40, int64(inoFile)

	add("node.ino", "number out of range", false, inNode(inoPipe, colIno, int64(0)), inNode(inoPipe, colIno, int64(-3)), inNode(inoPipe, colIno, huge))
	add("node.mode", "no valid type", false, inNode(file, colMode, 0), inNode(file, colMode, 0o644), inNode(file, colMode, 0o170644))
	add("node.mode", "more than a type", false, inNode(file, colMode, 1<<16|0o100644), inNode(file, colMode, huge|0o100644), inNode(file, colMode, int64(math.MinInt64|0o100644)), inNode(file, colMode, -1))
	add("node.mode", "in column mode", false, kinds(file, colMode)...)
	add("node.nlink", "nlink is", false, inNode(file, colNlink, 0), inNode(file, colNlink, 2), inNode(file, colNlink, -1), inNode(file, colNlink, huge), inNode(file, colNlink, int64(1<<32+1)), inNode(inoDir, colNlink, 1))
	add("node.nlink", "in column nlink", false, kinds(file, colNlink)...)
	add("node.uid", "uid is", false, inNode(file, colUID, -1), inNode(file, colUID, int64(1<<32)), inNode(inoDir, colUID, huge))
	add("node.uid", "in column uid", false, kinds(file, colUID)...)
	add("node.gid", "gid is", false, inNode(file, colGID, -1), inNode(file, colGID, int64(1<<32)), inNode(inoDir, colGID, huge))
	add("node.gid", "in column gid", false, kinds(inoLink, colGID)...)
	add("node.size", "impossible size", false, inNode(file, colSize, -1), inNode(file, colSize, int64(store.MaxSize+1)))
	add("node.size", "size is 4", false, inNode(file, colSize, 4))
	add("node.size", "size is 6", true, inNode(file, colSize, 6))
	add("node.size", "but it is of type", false, inNode(inoDir, colSize, 4096), inNode(inoPipe, colSize, 1), inNode(inoDevice, colSize, 1))
	add("node.size", "symbolic link of", false, inNode(inoLink, colSize, 0))
	add("node.size", "symbolic link of", true, inNode(inoLink, colSize, 40_000))
	add("node.size", "in column size", false, kinds(file, colSize)...)
	add("node.holes", "impossible holes", false, inNode(file, colHoles, -1), inNode(file, colHoles, 6))
	add("node.holes", "size is 5 with 3", false, inNode(file, colHoles, 3))
	add("node.holes", "impossible holes", false, inNode(inoDir, colHoles, 3))
	add("node.holes", "in column holes", false, kinds(file, colHoles)...)
	for i, column := range []string{"mtime_ns", "ctime_ns", "atime_ns"} {
		add("node."+column, "in column "+column, false, kinds(file, colMtime+i)...)
	}
	add("node.rdev", "no device", false, inNode(file, colRdev, 1), inNode(inoDir, colRdev, -1), inNode(inoPipe, colRdev, huge))
	add("node.rdev", "in column rdev", false, kinds(file, colRdev)...)
	add("node.rdev", "in column rdev", false, kinds(inoDevice, colRdev)...)

	entry := func(column int, values ...any) (list []rowChange) {
		for _, v := range values {
			list = append(list, rowChange{"entry", []any{int64(1), "f"}, column, v})
		}
		return list
	}
	add("entry.parent", "no such inode", false, entry(0, 99)...)
	add("entry.parent", "has entry", false, entry(0, 0, -1, huge)...)
	add("entry.parent", "not a directory", false, entry(0, inoFile, inoPipe)...)
	add("entry.parent", "of type 0", false, entry(0, "text", 1.5, []byte("1"))...)
	add("entry.name", "impossible name", false, entry(1, "", ".", "..", "a/b", "/", "x\x00y", strings.Repeat("n", store.MaxName+1))...)
	add("entry.name", "of type 0", false, entry(1, []byte("f"))...)
	add("entry.ino", "does not exist", false, entry(2, 99)...)
	add("entry.ino", "leads to the root", false, entry(2, 1)...)
	add("entry.ino", "leads to inode", false, entry(2, 0, -1, huge)...)
	add("entry.ino", "of type 0", false, entry(2, "text", 2.5, []byte("2"))...)
	add("entry.type", "says type 2", false, entry(3, 2)...)
	add("entry.type", "of type", false, entry(3, 0, 8, -1, int64(1<<32+1), "text", 1.5, []byte("1"))...)

	id := store.DataID(inoFile, 0)
	data := func(column int, value any) rowChange { return rowChange{"data", []any{id}, column, value} }
	add("data.id", "belongs to no inode", true, data(0, store.DataID(99, 0)), data(0, int64(-5)), data(0, int64(5)))
	add("data.id", "after the end", true, data(0, store.DataID(inoFile, 1<<40)))
	add("data.id", "has content, but", true, data(0, store.DataID(inoDir, 0)), data(0, store.DataID(inoPipe, 0)))
	add("data.bytes", "has 0 bytes", true, data(1, []byte{}), data(1, ""), data(1, 17), data(1, 1.5))
	add("data.bytes", "in column bytes", false, data(1, "hello"))
	add("data.bytes", "has 65537 bytes", true, data(1, make([]byte, store.ChunkSize+1)))

	xattr := func(column int, value any) rowChange {
		return rowChange{"xattr", []any{int64(inoFile), "user.a"}, column, value}
	}
	add("xattr.ino", "no such inode", false, xattr(0, 99))
	add("xattr.ino", "no such inode", true, xattr(0, 0), xattr(0, -1), xattr(0, huge))
	add("xattr.ino", "in column ino", true, xattr(0, "text"), xattr(0, 2.5), xattr(0, []byte("2")))
	add("xattr.name", "without a name", true, xattr(1, ""))
	add("xattr.name", "in column name", true, xattr(1, []byte("user.a")))
	add("xattr.value", "in column value", false, xattr(2, "value"), xattr(2, ""))
	add("xattr.value", "in column value", true, xattr(2, 5), xattr(2, 1.5))

	orphan := func(ino int64) rowChange { return rowChange{"orphan", nil, 0, ino} }
	add("orphan.ino", "out of range", false, orphan(0), orphan(-1), orphan(huge))
	add("orphan.ino", "is an orphan, but", false, orphan(inoFile), orphan(inoDir), orphan(1))
	return list
}

// TestColumns gives each column of each table values that docs/reference/format.md does not allow.
// Check must find each of them, every call must end, and Repair must correct each that it can.
// Afterwards everything can be removed.
func TestColumns(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	base := columnBase(t)
	for i, x := range violations() {
		if i%InQuick(5, 1) != 0 {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			change := func() *folio.Volume {
				path := filepath.Join(t.TempDir(), "test.folio")
				must.Do(t, os.WriteFile(path, base, 0o600))
				db, err := sqlitefile.Open(path, nil)
				must.Do(t, err)
				must.Do(t, db.Update(t.Context(), x.change.make))
				must.Do(t, db.Close())
				return Open(t, path)
			}
			v := change()
			wantProblem(t, v, x.want)
			names := useTampered(t, v)
			for _, name := range names {
				for _, call := range changes(name) {
					_ = call(v)
				}
			}
			_ = v.RemoveAll("d")
			if _, err := v.Check(t.Context(), nil); err != nil {
				t.Errorf("Check: %v", err)
			}
			x.repair(t, change())
		})
	}
}

func wantProblem(t *testing.T, v *folio.Volume, want string) {
	t.Helper()
	report, err := v.Check(t.Context(), nil)
	must.Do(t, err)
	if !slices.ContainsFunc(report.Problems, func(p folio.Problem) bool { return strings.Contains(p.What, want) }) {
		t.Errorf("no problem %q in %+v", want, report.Problems)
	}
}

// repair repairs a volume with a violation, and removes everything.
func (x *violation) repair(t *testing.T, v *folio.Volume) {
	t.Helper()
	report, err := v.Repair(t.Context())
	must.Do(t, err)
	if left := !report.OK(); left != x.left {
		t.Errorf("left %+v, repaired %+v", report.Problems, report.Repairs)
	}
	again, err := v.Repair(t.Context())
	must.Do(t, err)
	if len(again.Repairs) > 0 || len(again.Problems) != len(report.Problems) {
		t.Errorf("a second time: %+v", again)
	}
	useTampered(t, v)
	if p, err := v.ReadFile("f"); !x.left && err == nil && string(p) != "hello" && len(p) > 0 {
		t.Errorf("f holds %q", p)
	}
	removeTampered(t, v, true)
}
