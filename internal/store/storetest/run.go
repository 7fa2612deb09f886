package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
)

// Run checks the stores that open makes of a volume. Each must be a new one.
func Run(t *testing.T, open func(t *testing.T, v *Volume) store.Store) {
	v := sample()
	tests := map[string]func(t *testing.T, v *Volume, s store.Store){
		"Node": testNode, "Lookup": testLookup, "List": testList, "ListFrom": testListFrom, "ReadAt": testReadAt,
		"ReadAtRange": testReadAtRange, "Xattrs": testXattrs, "Version": testVersion, "Copies": testCopies,
		"Concurrent": testConcurrent, "Check": testCheck, "Info": testInfo,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, v)
			t.Cleanup(func() { _ = s.Close() })
			test(t, v, s)
		})
	}
	t.Run("Close", func(t *testing.T) { testClose(t, open(t, v)) })
}

// Begin starts a transaction that ends with the test.
func Begin(t *testing.T, s store.Store) store.Rx {
	t.Helper()
	rx, err := s.Begin(context.Background())
	must.Do(t, err)
	t.Cleanup(rx.End)
	return rx
}

func testNode(t *testing.T, v *Volume, s store.Store) {
	rx := Begin(t, s)
	for _, want := range v.Nodes {
		if got, err := rx.Node(want.Ino); err != nil || got != want {
			t.Errorf("Node(%d) = %+v, %v; want %+v", want.Ino, got, err, want)
		}
	}
	for _, ino := range []store.Ino{0, 100, inoLast - 1, inoLast + 1, 1<<64 - 1} {
		if _, err := rx.Node(ino); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Node(%d): %v, want fs.ErrNotExist", ino, err)
		}
	}
}

func testLookup(t *testing.T, v *Volume, s store.Store) {
	rx := Begin(t, s)
	for _, want := range v.Entries {
		if got, err := rx.Lookup(want.Dir, want.Name); err != nil || got != want.Entry {
			t.Errorf("Lookup(%d, %q) = %+v, %v; want %+v", want.Dir, want.Name, got, err, want.Entry)
		}
	}
	missing := []DirEntry{
		{inoFew, store.Entry{Name: ""}},
		{inoFew, store.Entry{Name: "n"}},
		{inoFew, store.Entry{Name: "aB"}},
		{inoFew, store.Entry{Name: "\xff\xff"}},
		{inoEmpty, store.Entry{Name: "a"}},
		{inoFile, store.Entry{Name: "a"}},
		{999, store.Entry{Name: "a"}},
		{0, store.Entry{Name: "few"}},
		{store.Root, store.Entry{Name: "."}},
	}
	for _, m := range missing {
		if e, err := rx.Lookup(m.Dir, m.Name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Lookup(%d, %q) = %+v, %v; want fs.ErrNotExist", m.Dir, m.Name, e, err)
		}
	}
}

// List returns the entries that a List gives.
func List(t *testing.T, rx store.Rx, dir store.Ino, after string, limit int) []store.Entry {
	t.Helper()
	var l store.Listing
	must.Do(t, rx.List(dir, after, limit, &l))
	return l.Entries()
}

func testList(t *testing.T, v *Volume, s store.Store) {
	rx := Begin(t, s)
	for _, dir := range []store.Ino{store.Root, inoFew, inoMany, inoEmpty, inoFile, 0, 999, 1<<64 - 1} {
		if got, want := List(t, rx, dir, "", 0), v.list(dir); !slices.Equal(got, want) {
			t.Errorf("List(%d): %d entries, want %d: %.300v", dir, len(got), len(want), got)
		}
	}
	var l store.Listing
	for _, dir := range []store.Ino{inoFew, store.Root} {
		must.Do(t, rx.List(dir, "", 0, &l))
	}
	if got, want := l.Entries(), append(v.list(inoFew), v.list(store.Root)...); !slices.Equal(got, want) {
		t.Errorf("two directories in one Listing: %v", got)
	}
	l.Reset()
	if len(l.Entries()) != 0 {
		t.Error("entries are left after Reset")
	}
}

func testListFrom(t *testing.T, v *Volume, s store.Store) {
	rx := Begin(t, s)
	for _, dir := range []store.Ino{inoFew, inoMany} {
		all := v.list(dir)
		for i := 0; i < len(all); i += 1 + len(all)/30 {
			for _, limit := range []int{-1, 0, 1, 2, 7, len(all)} {
				want := all[i+1:]
				if limit > 0 {
					want = want[:min(limit, len(want))]
				}
				if got := List(t, rx, dir, all[i].Name, limit); !slices.Equal(got, want) {
					t.Errorf("List(%d, %q, %d): %d entries, want %d", dir, all[i].Name, limit, len(got), len(want))
				}
			}
		}
	}
	for after, first := range map[string]string{"\x00": "\x01", "a!": "aa", "C": "a", "\u00e8": "\u00e9"} {
		if got := List(t, rx, inoFew, after, 1); len(got) != 1 || got[0].Name != first {
			t.Errorf("after %q, which is not there: %v, want %q", after, got, first)
		}
	}
	if got := List(t, rx, inoFew, "\xff\xff", 0); len(got) != 0 {
		t.Errorf("after the end: %v", got)
	}
}

func testReadAt(t *testing.T, v *Volume, s store.Store) {
	rx := Begin(t, s)
	for _, c := range v.Contents {
		n := v.node(c.Ino)
		got := bytes.Repeat([]byte{0xaa}, len(c.Bytes))
		if m, err := rx.ReadAt(n, got, 0); err != nil || m != len(got) || !bytes.Equal(got, c.Bytes) {
			t.Errorf("inode %d: read %d of %d bytes, %v; or other bytes", c.Ino, m, len(got), err)
		}
		got = append(got, 1, 2, 3)
		if m, err := rx.ReadAt(n, got, 0); err != io.EOF || m != len(c.Bytes) {
			t.Errorf("inode %d: more than all: %d, %v; want %d, EOF", c.Ino, m, err, len(c.Bytes))
		}
	}
	var p [1]byte
	for _, off := range []int64{0, 1, 1 << 40} {
		if m, err := rx.ReadAt(v.node(inoNone), p[:], off); m != 0 || err != io.EOF {
			t.Errorf("an empty file at %d: %d, %v; want EOF", off, m, err)
		}
	}
	if _, err := rx.ReadAt(v.node(inoFile), p[:], -1); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("at -1: %v, want fs.ErrInvalid", err)
	}
}

// testReadAtRange reads ranges that begin and end around the edges of chunks.
func testReadAtRange(t *testing.T, v *Volume, s store.Store) {
	rx := Begin(t, s)
	n, all := v.node(inoFile), v.Contents[0].Bytes
	var edges []int64
	for edge := int64(0); edge <= n.Size+store.ChunkSize; edge += store.ChunkSize {
		edges = append(edges, max(0, edge-1), edge, edge+1)
	}
	edges = append(edges, 1000, 5000, n.Size-1, n.Size, n.Size+1)
	for _, off := range edges {
		for _, end := range edges {
			if end < off {
				continue
			}
			p := bytes.Repeat([]byte{0xaa}, int(end-off))
			want := all[min(off, n.Size):min(end, n.Size)]
			m, err := rx.ReadAt(n, p, off)
			if m != len(want) || !bytes.Equal(p[:m], want) {
				t.Errorf("%d to %d: got %d bytes, want %d, or others", off, end, m, len(want))
			}
			if atEnd := end > n.Size; atEnd != (err == io.EOF) && !(end == off && off == n.Size) || err != nil && err != io.EOF {
				t.Errorf("%d to %d of %d: %v", off, end, n.Size, err)
			}
		}
	}
}

func testXattrs(t *testing.T, v *Volume, s store.Store) {
	rx := Begin(t, s)
	for _, n := range v.Nodes {
		got, err := rx.Xattrs(n.Ino)
		must.Do(t, err)
		var want []store.Xattr
		for _, x := range v.Xattrs {
			if x.Ino == n.Ino {
				want = append(want, x.Xattr)
			}
		}
		same := func(a, b store.Xattr) bool { return a.Name == b.Name && bytes.Equal(a.Value, b.Value) }
		if !slices.EqualFunc(got, want, same) {
			t.Errorf("inode %d: %d attributes, want %d", n.Ino, len(got), len(want))
		}
	}
	if got, err := rx.Xattrs(999); len(got) != 0 || err != nil {
		t.Errorf("no inode: %v, %v", got, err)
	}
}

func testVersion(t *testing.T, _ *Volume, s store.Store) {
	a, b := Begin(t, s), Begin(t, s)
	if a.Version() != b.Version() {
		t.Errorf("versions %d and %d of a volume that nobody writes", a.Version(), b.Version())
	}
}

// testCopies uses results after their transaction. They must still be valid (S2).
func testCopies(t *testing.T, v *Volume, s store.Store) {
	rx, err := s.Begin(context.Background())
	must.Do(t, err)
	entries := List(t, rx, inoFew, "", 0)
	attrs, err := rx.Xattrs(inoFew)
	must.Do(t, err)
	e, err := rx.Lookup(inoFew, "ab")
	must.Do(t, err)
	rx.End()
	must.Do(t, s.Close())
	if !slices.Equal(entries, v.list(inoFew)) || e.Name != "ab" {
		t.Error("entries changed when the store was closed")
	}
	if len(attrs) != 2 || attrs[1].Name != "user.b" || !bytes.Equal(attrs[1].Value, []byte{0, 255}) {
		t.Error("extended attributes changed when the store was closed")
	}
}

func testConcurrent(t *testing.T, v *Volume, s store.Store) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if err := readSome(v, s); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func readSome(v *Volume, s store.Store) error {
	rx, err := s.Begin(context.Background())
	if err != nil {
		return err
	}
	defer rx.End()
	var l store.Listing
	if err := rx.List(inoFew, "", 0, &l); err != nil || len(l.Entries()) != len(fewNames) {
		return errors.Join(err, errors.New("another number of entries"))
	}
	n, err := rx.Node(inoFile)
	if err != nil || n != v.node(inoFile) {
		return errors.Join(err, errors.New("another inode"))
	}
	p := make([]byte, 100)
	if _, err := rx.ReadAt(n, p, store.ChunkSize-50); err != nil || !bytes.Equal(p, v.Contents[0].Bytes[store.ChunkSize-50:][:100]) {
		return errors.Join(err, errors.New("other content"))
	}
	return nil
}

func testCheck(t *testing.T, v *Volume, s store.Store) {
	r, err := s.Check(context.Background(), nil)
	must.Do(t, err)
	if !r.OK() || r.Omitted != 0 {
		t.Errorf("problems: %+v", r.Problems)
	}
	if r.Nodes != int64(len(v.Nodes)) || r.Entries != int64(len(v.Entries)) || r.Xattrs != int64(len(v.Xattrs)) {
		t.Errorf("counted %+v", r)
	}
	stored := int64(0)
	for _, n := range v.Nodes {
		stored += n.Size - n.Holes
	}
	if r.Bytes != stored {
		t.Errorf("%d bytes are stored, want %d", r.Bytes, stored)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Check(done, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is done: %v", err)
	}
}

func testInfo(t *testing.T, _ *Volume, s store.Store) {
	info, err := s.Info(context.Background())
	must.Do(t, err)
	if info.Version <= 0 || info.Path == "" || info.Size <= 0 || info.ChunkSize != store.ChunkSize || info.LastIno != inoLast {
		t.Errorf("%+v", info)
	}
}

func testClose(t *testing.T, s store.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Begin(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Begin with a context that is done: %v", err)
	}
	must.Do(t, s.Close())
	if _, err := s.Begin(context.Background()); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Begin after Close: %v, want fs.ErrClosed", err)
	}
	if _, err := s.Check(context.Background(), nil); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Check after Close: %v, want fs.ErrClosed", err)
	}
	if _, err := s.Info(context.Background()); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Info after Close: %v, want fs.ErrClosed", err)
	}
}
