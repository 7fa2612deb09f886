package native

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/storetest"
	"github.com/foliofs/folio/sqlitefile"
)

// small makes a volume of a directory a with a file f, and a link l to a.
func small() *storetest.Volume {
	entry := func(dir store.Ino, name string, ino store.Ino, typ store.Type) storetest.DirEntry {
		return storetest.DirEntry{Dir: dir, Entry: store.Entry{Name: name, Ino: ino, Type: typ}}
	}
	return &storetest.Volume{
		Nodes: []store.Node{
			{Ino: 1, Mode: store.ModeDir | 0o755, Nlink: 3},
			{Ino: 2, Mode: store.ModeDir | 0o755, Nlink: 2},
			{Ino: 3, Mode: store.ModeRegular | 0o644, Nlink: 1, Size: 5},
			{Ino: 4, Mode: store.ModeSymlink | 0o777, Nlink: 1, Size: 1},
		},
		Entries:  []storetest.DirEntry{entry(1, "a", 2, store.Dir), entry(1, "l", 4, store.Symlink), entry(2, "f", 3, store.File)},
		Contents: []storetest.Content{{Ino: 3, Bytes: []byte("hello")}, {Ino: 4, Bytes: []byte("a")}},
	}
}

func addEntry(v *storetest.Volume, dir store.Ino, name string, ino store.Ino, typ store.Type) {
	v.Entries = append(v.Entries, storetest.DirEntry{Dir: dir, Entry: store.Entry{Name: name, Ino: ino, Type: typ}})
	slices.SortFunc(v.Entries, func(a, b storetest.DirEntry) int {
		if a.Dir != b.Dir {
			return int(a.Dir) - int(b.Dir)
		}
		return strings.Compare(a.Name, b.Name)
	})
}

func addNode(v *storetest.Volume, n store.Node) { v.Nodes = append(v.Nodes, n) }

// damages are volumes that contradict themselves, and the problem that Check must report for each:
// the path of the inode, if it has one, and a part of the text.
var damages = map[string]struct {
	damage func(v *storetest.Volume)
	want   []string
}{
	"none":               {func(*storetest.Volume) {}, nil},
	"no such inode":      {func(v *storetest.Volume) { addEntry(v, 1, "b", 9, store.File) }, []string{`.: entry "b" leads to inode 9`}},
	"no such directory":  {func(v *storetest.Volume) { addEntry(v, 9, "b", 3, store.File) }, []string{`: has entry "b", but there is no`, "a/f: nlink is 1, counted 2"}},
	"in a file":          {func(v *storetest.Volume) { addEntry(v, 3, "b", 3, store.File) }, []string{`a/f: has entry "b", but is not a dir`, "a/f: nlink"}},
	"dot dot":            {func(v *storetest.Volume) { v.Entries[2].Name = ".." }, []string{`a: has an entry with an impossible name: ".."`}},
	"slash":              {func(v *storetest.Volume) { v.Entries[2].Name = "x/y" }, []string{`a: has an entry with an impossible name: "x/y"`}},
	"empty name":         {func(v *storetest.Volume) { v.Entries[2].Name = "" }, []string{`a: has an entry with an impossible name: ""`}},
	"NUL":                {func(v *storetest.Volume) { v.Entries[2].Name = "x\x00" }, []string{`a: has an entry with an impossible name: "x\x00"`}},
	"long name":          {func(v *storetest.Volume) { v.Entries[2].Name = strings.Repeat("x", store.MaxName+1) }, []string{`a: has an entry with an impossible name`}},
	"other type":         {func(v *storetest.Volume) { v.Entries[2].Type = store.Dir }, []string{`a: entry "f" says type 2, inode 3 is of type 1`}},
	"unknown type":       {func(v *storetest.Volume) { v.Entries[2].Type = 8 }, []string{`a: volume is damaged: entry "f" of inode 2 leads to inode 3 of type 8`, ": nlink", ": no name"}},
	"two names":          {func(v *storetest.Volume) { addEntry(v, 1, "b", 2, store.Dir) }, []string{"a: is a directory with more", ".: nlink is 3, counted 4"}},
	"root below":         {func(v *storetest.Volume) { addEntry(v, 2, "r", 1, store.Dir) }, []string{`a: entry "r" leads to the root`, "a: nlink"}},
	"nlink":              {func(v *storetest.Volume) { v.Nodes[2].Nlink = 2 }, []string{"a/f: nlink is 2, counted 1"}},
	"nlink of directory": {func(v *storetest.Volume) { v.Nodes[0].Nlink = 2 }, []string{".: nlink is 2, counted 3"}},
	"orphan":             {func(v *storetest.Volume) { addNode(v, store.Node{Ino: 7, Mode: store.ModeFifo}) }, []string{": no name leads to it"}},
	"in itself":          {selfContained, []string{": is a directory that lies in itself"}},
	"loop":               {loop, []string{": is a directory that lies in itself"}},
	"no root":            {func(v *storetest.Volume) { v.Nodes = v.Nodes[1:] }, []string{`.: has entry "a", but`, `.: has entry "l", but`, ".: there is no root"}},
	"root is a file":     {func(v *storetest.Volume) { v.Nodes[0].Mode = store.ModeRegular }, []string{`.: has entry "a", but`, `.: has entry "l", but`, ".: the root is", ".: nlink"}},
	"content of nobody": {func(v *storetest.Volume) {
		v.Contents = append(v.Contents, storetest.Content{Ino: 9, Bytes: []byte("x")})
	}, []string{": chunk 0 belongs to no inode"}},
	"content of a dir":    {func(v *storetest.Volume) { v.Contents[0].Ino = 2 }, []string{"a: chunk 0 goes on after", "a: has content", "a/f: size is 5"}},
	"too much content":    {func(v *storetest.Volume) { v.Nodes[2].Size = 4 }, []string{"a/f: chunk 0 goes on after the end", "a/f: size is 4"}},
	"too little content":  {func(v *storetest.Volume) { v.Nodes[2].Size = 6 }, []string{"a/f: size is 6 with 0 in holes, but 5 bytes are stored"}},
	"no content":          {func(v *storetest.Volume) { v.Contents = v.Contents[1:] }, []string{"a/f: size is 5 with 0 in holes, but 0 bytes"}},
	"wrong holes":         {func(v *storetest.Volume) { v.Nodes[2].Holes = 5 }, []string{"a/f: size is 5 with 5 in holes, but 5 bytes"}},
	"impossible holes":    {func(v *storetest.Volume) { v.Nodes[2].Holes = 6 }, []string{"a/f: volume is damaged: inode 3 has impossible holes", "a/f: size"}},
	"negative size":       {func(v *storetest.Volume) { v.Nodes[2].Size = -1 }, []string{"a/f: volume is damaged: inode 3 has an impossible size", "a/f: chunk 0", "a/f: size"}},
	"huge size":           {func(v *storetest.Volume) { v.Nodes[2].Size = store.MaxSize + 1 }, []string{"a/f: volume is damaged: inode 3 has an impossible size", "a/f: size"}},
	"empty link":          {func(v *storetest.Volume) { v.Nodes[3].Size, v.Contents = 0, v.Contents[:1] }, []string{"l: a symbolic link of 0 bytes"}},
	"link with a hole":    {func(v *storetest.Volume) { v.Nodes[3].Size, v.Nodes[3].Holes = 3, 2 }, []string{"l: a symbolic link of 3 bytes, 2"}},
	"no type":             {func(v *storetest.Volume) { v.Nodes[2].Mode = 0o644 }, []string{"a/f: volume is damaged: inode 3 has no valid type", `a: entry "f" says type 1`, "a/f: has content"}},
	"attribute of nobody": {func(v *storetest.Volume) { v.Xattrs = []storetest.Xattr{{Ino: 9, Xattr: store.Xattr{Name: "a"}}} }, []string{`: has extended attribute "a", but`}},
	"nameless attribute":  {func(v *storetest.Volume) { v.Xattrs = []storetest.Xattr{{Ino: 2}} }, []string{"a: has an extended attribute without"}},
	"inode out of range": {
		func(v *storetest.Volume) { addNode(v, store.Node{Ino: store.MaxIno + 1, Mode: store.ModeFifo}) },
		[]string{": an inode number out of range"},
	},
}

func selfContained(v *storetest.Volume) {
	addNode(v, store.Node{Ino: 7, Mode: store.ModeDir, Nlink: 3})
	addEntry(v, 7, "self", 7, store.Dir)
}

// loop makes three directories that lie in each other, and one below them.
func loop(v *storetest.Volume) {
	for ino := store.Ino(7); ino < 10; ino++ {
		addNode(v, store.Node{Ino: ino, Mode: store.ModeDir, Nlink: 3})
		addEntry(v, ino, "next", 7+(ino-6)%3, store.Dir)
	}
	v.Nodes[len(v.Nodes)-1].Nlink = 4
	addNode(v, store.Node{Ino: 10, Mode: store.ModeDir, Nlink: 2})
	addEntry(v, 9, "below", 10, store.Dir)
}

func TestDamage(t *testing.T) {
	t.Parallel()
	for name, test := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := small()
			test.damage(v)
			s := openDamaged(t, func(b *Builder) error { return v.Build(b) })
			checkProblems(t, s, test.want)
			touchAll(t, s)
		})
	}
}

// openDamaged opens a volume with the rows that fill writes.
func openDamaged(t *testing.T, fill func(b *Builder) error) *Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "damaged.folio")
	if err := Create(context.Background(), path, new(CreateOptions), fill); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func checkProblems(t *testing.T, s *Store, want []string) {
	t.Helper()
	r, err := s.Check(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		if !slices.ContainsFunc(r.Problems, func(p store.Problem) bool {
			return strings.HasPrefix(p.Path+": "+p.What, w) || p.Path == "" && strings.HasPrefix(p.What, w)
		}) {
			t.Errorf("no problem %q", w)
		}
	}
	if len(r.Problems) != len(want) || t.Failed() {
		t.Errorf("%d problems, want %d: %+v", len(r.Problems), len(want), r.Problems)
	}
}

// touchAll calls everything: whatever the volume holds, it must come to an end without a panic, and
// give no impossible name.
func touchAll(t *testing.T, s *Store) {
	t.Helper()
	rx, err := s.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer rx.End()
	for ino := range store.Ino(12) {
		var l store.Listing
		if err := rx.List(ino, "", 0, &l); err == nil {
			for _, e := range l.Entries() {
				if !store.ValidName(e.Name) {
					t.Errorf("inode %d lists %q", ino, e.Name)
				}
				_, _ = rx.Lookup(ino, e.Name)
			}
		}
		_, _ = rx.Lookup(ino, "..")
		_, _ = rx.Xattrs(ino)
		n, err := rx.Node(ino)
		if err != nil {
			continue
		}
		if n.Size < 0 || n.Size > store.MaxSize || store.TypeOf(n.Mode) == 0 {
			t.Errorf("inode %d: %+v", ino, n)
		}
		_, _ = rx.ReadAt(n, make([]byte, 100), 0)
	}
}

// TestMissingContent reads a file that has less content than it says.
func TestMissingContent(t *testing.T) {
	t.Parallel()
	v := small()
	v.Nodes[2].Size = 6
	s := openDamaged(t, func(b *Builder) error { return v.Build(b) })
	rx, err := s.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer rx.End()
	if _, err := rx.ReadAt(v.Nodes[2], make([]byte, 6), 0); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("%v, want ErrDamaged", err)
	}
	p := make([]byte, 5)
	if n, err := rx.ReadAt(v.Nodes[2], p, 0); n != 5 || err != nil || string(p) != "hello" {
		t.Errorf("what is there: %d, %v, %q", n, err, p)
	}
	hole := v.Nodes[2]
	hole.Holes = 1
	p = []byte("xxxxxxx")
	if n, err := rx.ReadAt(hole, p, 0); n != 6 || err != io.EOF || string(p) != "hello\x00x" {
		t.Errorf("with a hole: %d, %v, %q", n, err, p)
	}
}

// TestManyProblems checks that a report is bounded.
func TestManyProblems(t *testing.T) {
	t.Parallel()
	v := small()
	for i := range 3 * store.MaxProblems {
		addNode(v, store.Node{Ino: store.Ino(100 + i), Mode: store.ModeFifo})
	}
	s := openDamaged(t, func(b *Builder) error { return v.Build(b) })
	r, err := s.Check(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Problems) != store.MaxProblems || r.Omitted != 2*store.MaxProblems || r.OK() {
		t.Errorf("%d problems, %d omitted", len(r.Problems), r.Omitted)
	}
}

// TestChunks damages rows of table data in ways that only SQL can.
func TestChunks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		id    int64
		bytes any
		want  []string
	}{
		"empty":     {store.DataID(2, 0), []byte{}, []string{"chunk 0 has 0 bytes"}},
		"large":     {store.DataID(2, 0), make([]byte, store.ChunkSize+1), []string{"chunk 0 has 65537 bytes", "size is 100000"}},
		"far":       {store.DataID(2, 1<<40), []byte("x"), []string{"chunk 16777216 goes on after", "size is 100000"}},
		"other ino": {store.DataID(3, 0), []byte("x"), []string{"chunk 0 belongs to no inode"}},
		"negative":  {-5, []byte("x"), []string{"chunk 268435451 belongs to no inode"}},
		"number":    {store.DataID(2, 0), 17, []string{"chunk 0 has 0 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openDamaged(t, func(b *Builder) error {
				n := store.Node{Ino: 2, Mode: store.ModeRegular, Nlink: 1, Size: 100000, Holes: 100000}
				return errors.Join(
					b.data.Append(test.id, test.id, test.bytes),
					b.Node(&store.Node{Ino: 1, Mode: store.ModeDir, Nlink: 2}), b.Node(&n),
					b.Entry(1, store.Entry{Name: "f", Ino: 2, Type: store.File}),
				)
			})
			r, err := s.Check(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, p := range r.Problems {
				got += p.What + "\n"
			}
			for _, w := range test.want {
				if !strings.Contains(got, w) {
					t.Errorf("no problem %q in:\n%s", w, got)
				}
			}
			touchAll(t, s)
		})
	}
}

// TestWrongKinds reads a volume whose columns hold values of every kind but the right one.
func TestWrongKinds(t *testing.T) {
	t.Parallel()
	values := map[string]any{"null": nil, "text": "x", "blob": []byte{1, 2}, "real": 1.5, "minus": -1, "huge": int64(1) << 62}
	for name, v := range values {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "kinds.folio")
			buildKinds(t, path, v)
			s, err := Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			if r, err := s.Check(context.Background(), nil); err != nil || r.OK() {
				t.Errorf("Check: %+v, %v", r, err)
			}
			touchAll(t, s)
		})
	}
}

// buildKinds makes a volume without the constraints of the schema, where each column but the keys
// has value v.
func buildKinds(t *testing.T, path string, v any) {
	t.Helper()
	o := &sqlitefile.BuildOptions{ApplicationID: store.ApplicationID, UserVersion: store.SchemaVersion}
	err := sqlitefile.Build(context.Background(), path, o, func(b *sqlitefile.Builder) error {
		tables := map[string]*sqlitefile.TableBuilder{}
		for name, sql := range map[string]string{
			"orphan": `CREATE TABLE orphan (ino INTEGER PRIMARY KEY)`,
			"node":   `CREATE TABLE node (ino INTEGER PRIMARY KEY, mode, nlink, uid, gid, size, holes, mtime_ns, ctime_ns, atime_ns, rdev)`,
			"entry":  `CREATE TABLE entry (parent, name, ino, type, PRIMARY KEY (parent, name)) WITHOUT ROWID`,
			"data":   `CREATE TABLE data (id INTEGER PRIMARY KEY, bytes)`,
			"xattr":  `CREATE TABLE xattr (ino, name, value, PRIMARY KEY (ino, name)) WITHOUT ROWID`,
		} {
			if err := b.Create(sql); err != nil {
				return err
			}
			var err error
			if tables[name], err = b.Table(name); err != nil {
				return err
			}
		}
		key := v
		if v == nil {
			key = 1.5
		}
		return errors.Join(
			tables["node"].Append(1, 1, store.ModeDir|0o755, 2, v, v, v, v, v, v, v, v),
			tables["node"].Append(2, 2, v, v, v, v, v, v, v, v, v, v),
			tables["entry"].AppendKey(1, "name", v, v),
			tables["entry"].AppendKey(2, key, 2, 1),
			tables["data"].Append(store.DataID(2, 0), nil, v),
			tables["xattr"].AppendKey(1, key, v),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
}
