package inode_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/foliofs/folio/internal/inode"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
)

// A log is an Observer that writes down what it is told.
type log []string

func (l *log) Changed(before, after *store.Node) {
	*l = append(*l, fmt.Sprintf("change %d: nlink %d to %d", before.Ino, before.Nlink, after.Nlink))
}

func (l *log) Orphaned(ino store.Ino) error {
	*l = append(*l, fmt.Sprintf("orphan %d", ino))
	return nil
}

const (
	then = 1000
	now  = 2000
)

// A scene is a root directory with a file "a" of names "a" and "b", directories "dir" and "empty",
// and a file "dir/c". Its inodes have these numbers.
const (
	root = store.Root
	a    = iota + 1
	dir
	empty
	c
)

func build(ch *inode.Change) error {
	r, err := ch.Tx.Node(root)
	if err != nil {
		return err
	}
	file := store.Node{Mode: store.ModeRegular | 0o644}
	if err := ch.Create(&r, "a", &file, []byte("hello")); err != nil {
		return err
	}
	if err := ch.Link(&r, "b", &file); err != nil {
		return err
	}
	d := store.Node{Mode: store.ModeDir | 0o755}
	if err := ch.Create(&r, "dir", &d, nil); err != nil {
		return err
	}
	e := d
	if err := ch.Create(&r, "empty", &e, nil); err != nil {
		return err
	}
	return ch.Create(&d, "c", &store.Node{Mode: store.ModeRegular | 0o600}, nil)
}

func TestChange(t *testing.T) {
	t.Parallel()
	type nlinks map[store.Ino]uint32
	for _, test := range []struct {
		name    string
		do      func(ch *inode.Change) error
		want    nlinks      // the link counts of inodes
		touched []store.Ino // inodes with the new time of change
		log     []string    // what the Observer hears
	}{
		{
			name: "unlink one of two names",
			do: func(ch *inode.Change) error {
				err := ch.Unlink(root, store.Entry{Name: "b", Ino: a, Type: store.File})
				if err != nil {
					return err
				}
				return ch.Touch(root, 0)
			},
			want: nlinks{a: 1, root: 4}, touched: []store.Ino{root, a},
			log: []string{"change 2: nlink 2 to 1", "change 1: nlink 4 to 4"},
		},
		{
			name: "unlink the last name",
			do: func(ch *inode.Change) error {
				return ch.Unlink(dir, store.Entry{Name: "c", Ino: c, Type: store.File})
			},
			want: nlinks{c: 0}, touched: []store.Ino{c},
			log: []string{"orphan 5", "change 5: nlink 1 to 0"},
		},
		{
			name: "unlink an entry that leads to no inode",
			do: func(ch *inode.Change) error {
				if err := ch.Tx.Link(root, store.Entry{Name: "lost", Ino: 99, Type: store.File}); err != nil {
					return err
				}
				return ch.Unlink(root, store.Entry{Name: "lost", Ino: 99, Type: store.File})
			},
			want: nlinks{root: 4},
		},
		{
			name: "rename a directory into another",
			do: func(ch *inode.Change) error {
				return ch.Rename(inode.Place{Dir: root, Name: "dir"}, inode.Place{Dir: empty, Name: "dir"}, store.Entry{Ino: dir, Type: store.Dir}, store.Entry{})
			},
			want: nlinks{root: 3, empty: 3, dir: 2}, touched: []store.Ino{root, dir, empty},
			log: []string{"change 3: nlink 2 to 2", "change 1: nlink 4 to 3", "change 4: nlink 2 to 3"},
		},
		{
			name: "rename a directory in place of an empty one",
			do: func(ch *inode.Change) error {
				return ch.Rename(inode.Place{Dir: root, Name: "dir"}, inode.Place{Dir: root, Name: "empty"}, store.Entry{Ino: dir, Type: store.Dir},
					store.Entry{Name: "empty", Ino: empty, Type: store.Dir})
			},
			want: nlinks{root: 3, empty: 0, dir: 2}, touched: []store.Ino{root, dir, empty},
			log: []string{"orphan 4", "change 4: nlink 2 to 0", "change 3: nlink 2 to 2", "change 1: nlink 4 to 3"},
		},
		{
			name: "exchange a file and a directory",
			do: func(ch *inode.Change) error {
				return ch.Exchange(inode.Place{Dir: dir, Name: "c"}, inode.Place{Dir: root, Name: "empty"}, store.Entry{Ino: c, Type: store.File},
					store.Entry{Ino: empty, Type: store.Dir})
			},
			want: nlinks{root: 3, dir: 3, c: 1, empty: 2}, touched: []store.Ino{root, dir, empty, c},
			log: []string{"change 5: nlink 1 to 1", "change 4: nlink 2 to 2", "change 3: nlink 2 to 3", "change 1: nlink 4 to 3"},
		},
		{
			name: "set an extended attribute",
			do: func(ch *inode.Change) error {
				n, err := ch.Tx.Node(a)
				if err != nil {
					return err
				}
				if err := ch.SetXattr(&n, "user.x", []byte("yes")); err != nil {
					return err
				}
				exists, others, err := ch.Xattr(a, "user.y")
				if err == nil && (exists || others != len("user.x")+len("yes")) {
					err = fmt.Errorf("Xattr: %v, %d", exists, others)
				}
				return err
			},
			want: nlinks{a: 2}, touched: []store.Ino{a},
			log: []string{"change 2: nlink 2 to 2"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			var heard log
			update(t, s, now, func(ch *inode.Change) error {
				ch.Observer = &heard
				return test.do(ch)
			})
			rx, err := s.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer rx.End()
			for _, ino := range []store.Ino{root, a, dir, empty, c} {
				n, err := rx.Node(ino)
				if want, ok := test.want[ino]; ok && want > 0 && n.Nlink != want {
					t.Errorf("inode %d has %d links, %v, want %d", ino, n.Nlink, err, want)
				}
				if want := slices.Contains(test.touched, ino); err == nil && (n.Ctime == now) != want {
					t.Errorf("inode %d changed at %d, want it changed: %v", ino, n.Ctime, want)
				}
			}
			if !slices.Equal(heard, test.log) {
				t.Errorf("the observer heard %q, want %q", heard, test.log)
			}
		})
	}
}

// newStore returns a store with a scene.
func newStore(t *testing.T) store.Store {
	t.Helper()
	s, err := native.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	update(t, s, then, build)
	return s
}

func update(t *testing.T, s store.Store, at int64, fn func(ch *inode.Change) error) {
	t.Helper()
	err := s.Update(t.Context(), func(tx store.Tx) error { return fn(&inode.Change{Tx: tx, Now: at}) })
	if err != nil {
		t.Fatal(err)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		parent, mode   uint32
		wantMode, want uint32 // mode and group of the new inode, in a directory of group 7
	}{
		{"file", store.ModeDir | 0o755, store.ModeRegular | 0o644, store.ModeRegular | 0o644, 3},
		{"file below setgid", store.ModeDir | posix.ModeSetgid, store.ModeRegular, store.ModeRegular, 7},
		{"directory below setgid", store.ModeDir | posix.ModeSetgid, store.ModeDir, store.ModeDir | posix.ModeSetgid, 7},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			update(t, newStore(t), now, func(ch *inode.Change) error {
				parent := store.Node{Ino: dir, Mode: test.parent, GID: 7, Nlink: 2}
				n := store.Node{Mode: test.mode, GID: 3}
				if err := ch.Create(&parent, "new", &n, nil); err != nil {
					return err
				}
				if n.Mode != test.wantMode || n.GID != test.want {
					t.Errorf("mode %o, group %d; want %o, %d", n.Mode, n.GID, test.wantMode, test.want)
				}
				return nil
			})
		})
	}
}

func TestClearSetID(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		mode, want uint32
		inGroup    bool
	}{
		{0o6755, 0o755, true},
		{0o6755, 0o755, false},
		{0o6744, 0o2744, true}, // without execution by the group, setgid is a sign of locking
		{0o6744, 0o744, false},
		{0o1777, 0o1777, false},
	} {
		n := store.Node{Mode: store.ModeRegular | test.mode}
		inode.ClearSetID(&n, func() bool { return test.inGroup })
		if got := n.Mode &^ store.ModeType; got != test.want {
			t.Errorf("%o with %v: %o, want %o", test.mode, test.inGroup, got, test.want)
		}
	}
}

func TestContent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		do   func(ch *inode.Change, n *store.Node) error
		want string
	}{
		{"write", func(ch *inode.Change, n *store.Node) error { return ch.Write(n, []byte("ow"), 4) }, "hellow"},
		{"truncate", func(ch *inode.Change, n *store.Node) error { return ch.Truncate(n, 2) }, "he"},
		{"punch", func(ch *inode.Change, n *store.Node) error { return ch.Punch(n, 1, 3) }, "h\x00\x00\x00o"},
		{"punch where there are no holes", func(ch *inode.Change, n *store.Node) error {
			return (&inode.Change{Tx: struct{ store.Tx }{ch.Tx}, Now: now}).Punch(n, 1, 3)
		}, "h\x00\x00\x00o"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			update(t, newStore(t), now, func(ch *inode.Change) error {
				n, err := ch.Tx.Node(a)
				if err == nil {
					err = test.do(ch, &n)
				}
				if err == nil {
					err = ch.Tx.Put(&n)
				}
				if err != nil {
					return err
				}
				got := make([]byte, n.Size)
				if _, err := ch.Tx.ReadAt(n, got, 0); err != nil {
					return err
				}
				if string(got) != test.want || n.Mtime != now {
					t.Errorf("content %q of %d, want %q of %d", got, n.Mtime, test.want, now)
				}
				return nil
			})
		})
	}
}
