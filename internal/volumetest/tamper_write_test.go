package volumetest

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/race"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
)

// tampered are volumes that contradict themselves, each in its own way.
var tampered = map[string]func(b *native.Builder) error{
	"a directory in itself": func(b *native.Builder) error {
		return errors.Join(addNode(b, 2, store.ModeDir|0o755, 3, 0), addEntry(b, 1, "x", 2, store.Dir), addEntry(b, 2, "x", 2, store.Dir))
	},
	"two directories in each other": func(b *native.Builder) error {
		return errors.Join(
			addNode(b, 2, store.ModeDir|0o755, 3, 0), addNode(b, 3, store.ModeDir|0o755, 3, 0),
			addEntry(b, 1, "x", 2, store.Dir), addEntry(b, 2, "x", 3, store.Dir), addEntry(b, 3, "x", 2, store.Dir))
	},
	"the root in itself": func(b *native.Builder) error { return addEntry(b, 1, "x", 1, store.Dir) },
	"a directory with two names": func(b *native.Builder) error {
		return errors.Join(addNode(b, 2, store.ModeDir|0o755, 2, 0), addEntry(b, 1, "x", 2, store.Dir), addEntry(b, 1, "y", 2, store.Dir))
	},
	"a billion links": func(b *native.Builder) error {
		return errors.Join(addNode(b, 2, store.ModeRegular|0o644, 1e9, 0), addEntry(b, 1, "x", 2, store.File))
	},
	"as many links as can be": func(b *native.Builder) error {
		return errors.Join(addNode(b, 2, store.ModeRegular|0o644, 1<<32-1, 0), addEntry(b, 1, "x", 2, store.File))
	},
	"no links": func(b *native.Builder) error {
		return errors.Join(addNode(b, 2, store.ModeRegular|0o644, 0, 0), addNode(b, 3, store.ModeDir|0o755, 0, 0),
			addEntry(b, 1, "x", 2, store.File), addEntry(b, 1, "y", 3, store.Dir))
	},
	"no inode": func(b *native.Builder) error { return addEntry(b, 1, "x", 9, store.File) },
	"a file that is a directory": func(b *native.Builder) error {
		return errors.Join(addNode(b, 2, store.ModeDir|0o755, 2, 0), addEntry(b, 1, "x", 2, store.File))
	},
	"a directory that is a file": func(b *native.Builder) error {
		_, err := b.Bytes(2, []byte("abc"))
		return errors.Join(err, addNode(b, 2, store.ModeRegular|0o755, 1, 3), addEntry(b, 1, "x", 2, store.Dir))
	},
	"a link that is a file": func(b *native.Builder) error {
		return errors.Join(addNode(b, 2, store.ModeRegular|0o755, 1, 0), addEntry(b, 1, "x", 2, store.Symlink))
	},
	"an impossible name": func(b *native.Builder) error {
		return errors.Join(addNode(b, 2, store.ModeDir|0o755, 2, 0), addNode(b, 3, store.ModeRegular|0o755, 1, 0),
			addEntry(b, 1, "x", 2, store.Dir), addEntry(b, 2, "../y", 3, store.File))
	},
	"the highest number": func(b *native.Builder) error {
		return errors.Join(addNode(b, store.MaxIno, store.ModeRegular|0o644, 1, 0), addEntry(b, 1, "x", store.MaxIno, store.File))
	},
	"a chunk too much": func(b *native.Builder) error {
		_, err := b.Bytes(2, []byte("abc"))
		return errors.Join(err, addNode(b, 2, store.ModeRegular|0o644, 1, 0), addEntry(b, 1, "x", 2, store.File))
	},
}

func addNode(b *native.Builder, ino store.Ino, mode, nlink uint32, size int64) error {
	return b.Node(&store.Node{Ino: ino, Mode: mode, Nlink: nlink, Size: size})
}

func addEntry(b *native.Builder, dir store.Ino, name string, ino store.Ino, typ store.Type) error {
	return b.Entry(dir, store.Entry{Name: name, Ino: ino, Type: typ})
}

// TestTamperedWriting changes volumes that contradict themselves, in all ways and one after the
// other. No call may panic or loop, the database must stay sound, and Check must report its
// findings.
func TestTamperedWriting(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	calls := changes("x")
	for name, rows := range tampered {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i := 0; i < len(calls); i += InQuick(5, 1) {
				v := Craft(t, PlainRoot, rows)
				for j := range calls { // each of them once as the first one
					_ = calls[(i+j)%len(calls)](v)
				}
				if _, err := v.Check(t.Context(), nil); err != nil {
					t.Errorf("Check: %v", err)
				}
			}
		})
	}
}

// changes returns calls that change the file of a name.
func changes(name string) []func(v *folio.Volume) error {
	now := time.Now()
	return []func(v *folio.Volume) error{
		func(v *folio.Volume) error { return v.WriteFile(name, []byte("new"), 0o644) },
		func(v *folio.Volume) error { return v.WriteFile(name+"/new", []byte("new"), 0o644) },
		func(v *folio.Volume) error { return useFile(v.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)) },
		func(v *folio.Volume) error { return useFile(v.OpenFile(name, os.O_RDWR|os.O_TRUNC, 0o644)) },
		func(v *folio.Volume) error { return v.Mkdir(name+"/d", 0o755) },
		func(v *folio.Volume) error { return v.MkdirAll(name+"/"+name+"/"+name+"/e/f", 0o755) },
		func(v *folio.Volume) error { return v.Rename(name, name+"/"+name+"/moved") },
		func(v *folio.Volume) error { return v.Rename(name, "moved") },
		func(v *folio.Volume) error { return v.Rename("moved", name) },
		func(v *folio.Volume) error { return v.Link(name, fmt.Sprint("link", now.Nanosecond())) },
		func(v *folio.Volume) error { return v.Symlink(name, name+"/symlink") },
		func(v *folio.Volume) error { return v.Chmod(name, 0o700) },
		func(v *folio.Volume) error { return v.Chtimes(name, now, now) },
		func(v *folio.Volume) error { return v.SetXattr(name, "user.a", []byte("1")) },
		func(v *folio.Volume) error { return v.Remove(name) },
		func(v *folio.Volume) error { return v.RemoveAll(name) },
	}
}

// useFile writes to a file.
func useFile(f *folio.File, err error) error {
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte("text"), 70_000)
	return errors.Join(err, f.Truncate(70_001), f.Truncate(2), f.Chmod(0o600), f.Close())
}

// TestWrongSizesWritten writes to files whose sizes are wrong. A write that is impossible must
// fail, and content that could be read before must still be readable.
func TestWrongSizesWritten(t *testing.T) {
	t.Parallel()
	for _, n := range []store.Node{
		{Size: 100}, {Size: 1 << 30}, {Size: 3, Holes: 3}, {Size: 200_000, Holes: 200_000}, {Size: 2}, {Size: 200_000, Holes: 100_000},
	} {
		n.Ino, n.Mode, n.Nlink = 2, store.ModeRegular|0o644, 1
		for i, change := range []func(f *folio.File) error{
			func(f *folio.File) error { return must.Second(f.WriteAt([]byte("x"), 50)) },
			func(f *folio.File) error { return must.Second(f.WriteAt([]byte("x"), 150_000)) },
			func(f *folio.File) error { return must.Second(f.WriteAt(make([]byte, 200_000), 0)) },
			func(f *folio.File) error { return f.Truncate(1) },
			func(f *folio.File) error { return f.Truncate(2_000_000) },
		} {
			v := Craft(t, PlainRoot, func(b *native.Builder) error {
				_, err := b.Bytes(2, []byte("abc"))
				return errors.Join(err, b.Node(&n), b.Entry(store.Root, store.Entry{Name: "x", Ino: 2, Type: store.File}))
			})
			f, err := v.OpenFile("x", os.O_RDWR, 0)
			must.Do(t, err)
			_, before := f.Stat()
			err = change(f)
			if err != nil && !errors.Is(err, folio.ErrDamaged) {
				t.Errorf("size %d, holes %d, change %d: %v", n.Size, n.Holes, i, err)
			}
			if _, statErr := f.Stat(); (statErr == nil) != (before == nil) {
				t.Errorf("size %d, holes %d, change %d: %v, then %v", n.Size, n.Holes, i, err, statErr)
			}
			must.Do(t, f.Close())
		}
	}
}
