package native

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/history"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/internal/store/storetest"
	"github.com/foliofs/folio/sqlitefile"
)

// left has the damages that Repair leaves, and the problems that Check still reports then. After
// the other damages it reports none.
var left = map[string][]string{
	"too little content": {"a/f: size is 6 with 0 in holes, but 5 bytes are stored"},
	"no content":         {"a/f: size is 5 with 0 in holes, but 0 bytes"},
	"content of a dir":   {"a: chunk 0 goes on after", "a: has content", "a/f: size is 5"},
	"empty link":         {"l: a symbolic link of 0 bytes"},
	"link with a hole":   {"l: a symbolic link of 3 bytes, 2"},
	"nameless attribute": {"a: has an extended attribute without"},
}

func TestRepair(t *testing.T) {
	t.Parallel()
	for name, test := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := small()
			test.damage(v)
			s := openDamaged(t, func(b *Builder) error { return v.Build(b) })
			before := contents(t, s)
			r := repaired(t, s)
			if len(left[name]) == 0 && test.want != nil && len(r.Repairs) == 0 {
				t.Error("nothing was repaired")
			}
			checkProblems(t, s, left[name])
			checkKept(t, s, before)
			touchAll(t, s)
		})
	}
}

// repaired repairs a volume, once more in vain.
func repaired(t *testing.T, s *Store) *store.RepairReport {
	t.Helper()
	r, err := s.Repair(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Repair(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Repairs) > 0 || !slices.Equal(again.Problems, r.Problems) {
		t.Errorf("a second time: %+v; %+v, first %+v", again.Repairs, again.Problems, r.Problems)
	}
	for _, done := range r.Repairs {
		t.Logf("%d %s: %s: %s", done.Ino, done.Path, done.What, done.Done)
	}
	return r
}

// contents returns all data rows and attributes.
func contents(t *testing.T, s *Store) map[string]string {
	t.Helper()
	rows := make(map[string]string)
	err := s.db.View(context.Background(), func(rx *sqlitefile.Rx) error {
		for _, name := range []string{"data", "xattr"} {
			table, err := rx.Table(name)
			if err != nil {
				return err
			}
			for row, err := range table.All() {
				if err != nil {
					return err
				}
				var v [3]sqlitefile.Value
				if err := row.Values(v[:len(table.Columns())]); err != nil {
					return err
				}
				rows[fmt.Sprint(name, row.Rowid(), v[0].Any())] += v[1].Text() + v[2].Text()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// checkKept checks that no content was lost.
func checkKept(t *testing.T, s *Store, before map[string]string) {
	t.Helper()
	if !maps.Equal(contents(t, s), before) {
		t.Error("contents have changed")
	}
}

// TestRepairLost looks for the inodes in lost+found.
func TestRepairLost(t *testing.T) {
	t.Parallel()
	v := small()
	loop(v)
	selfContained(v)
	v.Nodes = v.Nodes[:len(v.Nodes)-1] // 7 once
	addNode(v, store.Node{Ino: 20, Mode: store.ModeRegular | 0o600, Nlink: 7, Size: 4})
	v.Contents = append(v.Contents, storetest.Content{Ino: 20, Bytes: []byte("lost")}, storetest.Content{Ino: 30, Bytes: []byte("more")})
	addEntry(v, 40, "in", 20, store.File)
	s := openDamaged(t, func(b *Builder) error { return v.Build(b) })
	repaired(t, s)
	checkProblems(t, s, nil)
	rx, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer rx.End()
	for path, ino := range map[string]store.Ino{
		"lost+found/#7": 7, "lost+found/#7/next/next/below": 10, "lost+found/#40/in": 20, "lost+found/#30": 30, "a/f": 3,
	} {
		at := store.Entry{Ino: store.Root}
		for name := range strings.SplitSeq(path, "/") {
			if at, err = rx.Lookup(at.Ino, name); err != nil {
				break
			}
		}
		if err != nil || at.Ino != ino {
			t.Errorf("%s: %v, %v", path, at, err)
		}
	}
	n, err := rx.Node(30)
	p := make([]byte, 4)
	if _, readErr := rx.ReadAt(n, p, 0); err != nil || readErr != nil || string(p) != "more" {
		t.Errorf("%q, %v, %v", p, err, readErr)
	}
}

// TestRepairSizes corrects sizes that contradict all else, and leaves those where content may be
// lost.
func TestRepairSizes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ size, holes, wantSize, wantHoles int64 }{
		{3, 0, 5, 0},
		{5, 0, 5, 0},
		{-1, 0, 5, 0},
		{-1, 10, 15, 10},
		{1 << 50, 7, 12, 7},
		{-1, -1, 5, 0},
		{5, 3, 5, 0},
		{5, 9, 5, 0},
		{9, 9, 9, 4},
		{9, -1, 9, 0}, // 4 bytes are missing, or not
		{9, 3, 9, 3},
		{3, 3, 8, 3},
	} {
		v := small()
		v.Nodes[2].Size, v.Nodes[2].Holes = test.size, test.holes
		s := openDamaged(t, func(b *Builder) error { return v.Build(b) })
		repaired(t, s)
		rx, err := s.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n, err := rx.Node(3); err != nil || n.Size != test.wantSize || n.Holes != test.wantHoles {
			t.Errorf("%d, %d: %d, %d, %v", test.size, test.holes, n.Size, n.Holes, err)
		}
		rx.End()
	}
}

// TestRepairOrphans checks that a file that has a name is not removed because it is said to be an
// orphan.
func TestRepairOrphans(t *testing.T) {
	t.Parallel()
	v := small()
	addNode(v, store.Node{Ino: 7, Mode: store.ModeRegular | 0o600, Nlink: 1, Size: 4}) // it says that it has a name
	v.Contents = append(v.Contents, storetest.Content{Ino: 7, Bytes: []byte("lost")})
	s := openDamaged(t, func(b *Builder) error { return v.Build(b) })
	err := s.update(t.Context(), func(t *history.Tx) error {
		orphan, err := t.Table(rowstore.OrphanTable)
		for _, ino := range []int64{2, 3, 7, 1, -7, 1 << 40, 12345} {
			err = errors.Join(err, orphan.Put(ino, ino))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	repaired(t, s)
	checkProblems(t, s, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(s.db.Path(), nil); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	checkProblems(t, s, nil)
	if len(contents(t, s)) != 3 {
		t.Error("what was no orphan was removed")
	}
}

// TestRepairOrphanMadeAnew checks that content and attributes without an inode are not removed
// because their number is that of an orphan.
func TestRepairOrphanMadeAnew(t *testing.T) {
	t.Parallel()
	v := small()
	v.Contents = append(v.Contents, storetest.Content{Ino: 7, Bytes: []byte("lost")})
	s := openDamaged(t, func(b *Builder) error { return v.Build(b) })
	must.Do(t, s.update(t.Context(), func(t *history.Tx) error {
		orphan, err := t.Table(rowstore.OrphanTable)
		return errors.Join(err, orphan.Put(7, 7), orphan.Put(8, 8), t.SetXattr(8, "user.a", []byte("lost")))
	}))
	repaired(t, s)
	checkProblems(t, s, nil)
	rx, err := s.Begin(t.Context())
	must.Do(t, err)
	defer rx.End()
	if n, err := rx.Node(7); err != nil || n.Size != 4 {
		t.Errorf("%+v, %v", n, err)
	}
	if list, err := rx.Xattrs(8); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

// TestRepairNamedOrphan opens and repairs a volume with a file that has a name, but is an orphan by
// all that its own rows say.
func TestRepairNamedOrphan(t *testing.T) {
	t.Parallel()
	v := small()
	v.Nodes[2].Nlink = 0
	s := openDamaged(t, func(b *Builder) error { return v.Build(b) })
	must.Do(t, s.update(t.Context(), func(t *history.Tx) error {
		orphan, err := t.Table(rowstore.OrphanTable)
		return errors.Join(err, orphan.Put(3, 3))
	}))
	before := contents(t, s)
	for range 2 { // the second time it has a Repair behind it
		must.Do(t, s.Close())
		var err error
		if s, err = Open(s.db.Path(), nil); err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		checkKept(t, s, before)
		repaired(t, s)
		checkProblems(t, s, nil)
		checkKept(t, s, before)
	}
}

// TestRepairKinds repairs a volume whose columns hold values of every kind but the right one.
func TestRepairKinds(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{"null": nil, "text": "x", "blob": []byte{1, 2}, "real": 1.5, "minus": -1, "huge": int64(1) << 62} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := t.TempDir() + "/kinds.folio"
			buildKinds(t, path, v)
			s, err := Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			before := contents(t, s)
			repaired(t, s)
			checkKept(t, s, before)
			touchAll(t, s)
		})
	}
}

// TestRepairUnsound does not touch a database that is damaged itself.
func TestRepairUnsound(t *testing.T) {
	t.Parallel()
	v := small()
	v.Nodes[2].Nlink = 9
	s := openDamaged(t, func(b *Builder) error { return v.Build(b) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(s.db.Path(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte{0, 0, 0, 5}, 36) // free pages, it says
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(s.db.Path(), nil); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Repair(t.Context())
	if err != nil || len(r.Repairs) > 0 || r.OK() {
		t.Errorf("%v, %+v", err, r)
	}
}

// Check names each view and trigger that is missing, changed, or of another program, and Repair
// makes those that are missing.
func TestRepairViews(t *testing.T) {
	t.Parallel()
	tables := store.Schema[:slices.Index(store.Schema, store.FileStatements[0])]
	changed := slices.Clone(store.FileStatements)
	changed[5] = strings.Replace(changed[5], "path is empty", "path was empty", 1)
	for name, test := range map[string]struct {
		views       []string
		found, left int // problems, and those that stay after a repair
	}{
		"as it is":            {store.FileStatements, 0, 0},
		"without triggers":    {store.FileStatements[:5], 7, 0},
		"view file alone":     {store.FileStatements[:1], 11, 0},
		"without a view":      {nil, 12, 0},
		"without a trigger":   {store.FileStatements[:11], 1, 0},
		"another view":        {[]string{"CREATE VIEW file AS SELECT 1"}, 12, 12},
		"a name taken":        {[]string{store.FileStatements[0], "CREATE VIEW File_Drop AS SELECT 1"}, 11, 11},
		"a trigger changed":   {changed, 1, 1},
		"a foreign trigger":   {append(slices.Clone(store.FileStatements), "CREATE TRIGGER swallow INSTEAD OF INSERT ON FILE BEGIN SELECT RAISE(IGNORE); END"), 1, 1},
		"foreign and missing": {append(slices.Clone(store.FileStatements[:11]), "CREATE TRIGGER swallow INSTEAD OF DELETE ON file_drop BEGIN SELECT 1; END"), 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "test.folio")
			makeDatabase(t, path, store.ApplicationID, 1, slices.Concat(tables, test.views)...)
			db, err := sqlitefile.Open(path, nil)
			must.Do(t, err)
			must.Do(t, db.Update(t.Context(), func(tx *sqlitefile.Tx) error {
				node, err := tx.Table("node")
				return errors.Join(err, node.Put(1, 1, store.ModeDir|0o755, 2, 0, 0, 0, 0, 0, 0, 0, 0))
			}))
			must.Do(t, db.Close())
			s, err := Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if r, err := s.Check(t.Context(), nil); err != nil || len(r.Problems) != test.found {
				t.Errorf("%v, %v", r.Problems, err)
			}
			if r := repaired(t, s); len(r.Repairs) != test.found-test.left || len(r.Problems) != test.left {
				t.Errorf("%v, %v", r.Repairs, r.Problems)
			}
			if r := repaired(t, s); len(r.Repairs) != 0 {
				t.Errorf("again: %v", r.Repairs)
			}
			want := slices.Concat(tables, test.views)
			if test.left < test.found {
				want = slices.Compact(slices.Sorted(slices.Values(slices.Concat(store.Schema, test.views))))
			}
			if got := statements(t, s); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
				t.Errorf("%q", got)
			}
		})
	}
}

// statements returns those that make the objects of a volume, sorted.
func statements(t *testing.T, s *Store) (list []string) {
	must.Do(t, s.db.View(t.Context(), func(rx *sqlitefile.Rx) error {
		objects, err := rx.Objects()
		for _, o := range objects {
			list = append(list, o.SQL)
		}
		return err
	}))
	slices.Sort(list)
	return list
}
