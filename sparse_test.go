package folio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/race"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/volumetest"
)

// A sparseReader reads a content that it knows the holes of. It is wrong where it skips less than
// it could, or other bytes than zeros.
type sparseReader struct {
	rest    []byte
	skipped int64
	bad     int64 // the answer of SkipHole, if not 0
	err     error // the same
}

func (s *sparseReader) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 10_000)], s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *sparseReader) SkipHole(unit int64) (int64, error) {
	if s.err != nil || s.bad != 0 {
		return s.bad, s.err
	}
	zeros := int64(0)
	for zeros < int64(len(s.rest)) && s.rest[zeros] == 0 {
		zeros++
	}
	zeros -= zeros % unit
	s.rest = s.rest[zeros:]
	s.skipped += zeros
	return zeros, nil
}

// sparseContents are contents with holes in all places: from, to pairs of data, and the size.
func sparseContents() map[string][]byte {
	const chunk = store.ChunkSize
	all := make(map[string][]byte)
	for _, at := range [][]int{
		{0},
		{1},
		{chunk - 1},
		{chunk},
		{chunk + 1},
		{5 * chunk},
		{40 * chunk},
		{40*chunk + 7}, // all hole
		{0, 1, 9 * chunk},
		{0, chunk, 40 * chunk},
		{0, 3*chunk + 5, 40*chunk + 5}, // hole last
		{8 * chunk, 9 * chunk, 9 * chunk},
		{8*chunk - 1, 9 * chunk, 9 * chunk},
		{35*chunk + 3, 36 * chunk, 36 * chunk}, // hole first
		{0, 1, 20 * chunk, 20*chunk + 1, 60*chunk - 1, 60 * chunk, 60 * chunk},
		{chunk / 2, chunk, 3*chunk + 9, 4 * chunk, 5 * chunk, 70*chunk - 9, 90*chunk + 3},
	} {
		p := make([]byte, at[len(at)-1])
		for i := 0; i+1 < len(at); i += 2 {
			copy(p[at[i]:at[i+1]], bytes.Repeat([]byte("data"), len(p)))
		}
		all[fmt.Sprint(at)] = p
	}
	return all
}

// A volume of contents that tell their holes must be the same, byte for byte, as a volume of their
// zeros.
func TestCreateSparse(t *testing.T) {
	t.Parallel()
	for name, content := range sparseContents() {
		dir := t.TempDir()
		r := &sparseReader{rest: content}
		h := &folio.Header{Name: "f", Mode: 0o644, ModTime: time.Unix(1e9, 0)}
		for path, in := range map[string]io.Reader{"sparse": r, "plain": bytes.NewReader(content)} {
			must.Do(t, folio.Create(t.Context(), filepath.Join(dir, path), nil, func(b *folio.Builder) error {
				if err := b.Add(&folio.Header{Name: ".", Mode: os.ModeDir | 0o755, ModTime: h.ModTime}, nil); err != nil {
					return err
				}
				return b.Add(h, in)
			}))
		}
		a, errA := os.ReadFile(filepath.Join(dir, "sparse"))
		b, errB := os.ReadFile(filepath.Join(dir, "plain"))
		if !bytes.Equal(a, b) || errA != nil || errB != nil {
			t.Errorf("%s: %d and %d bytes differ: %v, %v", name, len(a), len(b), errA, errB)
		}
		v := volumetest.Open(t, filepath.Join(dir, "sparse"))
		if info, err := v.Stat("f"); err != nil || r.skipped != info.Sys().(*folio.Node).Holes {
			t.Errorf("%s: %d bytes are skipped: %v", name, r.skipped, err)
		}
	}
}

// takers are the calls that take a content, except Create.
var takers = map[string]func(v *folio.Volume, r io.Reader, size int) error{
	"Tx.Add": func(v *folio.Volume, r io.Reader, size int) error {
		return v.Update(context.Background(), func(tx *folio.Tx) error { return tx.Add(&folio.Header{Name: "f", Mode: 0o644}, r) })
	},
	"WriteFrom": func(v *folio.Volume, r io.Reader, size int) error {
		_, err := v.WriteFrom("f", r, 0o644)
		return err
	},
	"Tx.WriteFrom": func(v *folio.Volume, r io.Reader, size int) error {
		return v.Update(context.Background(), func(tx *folio.Tx) error {
			_, err := tx.WriteFrom("f", r, 0o644)
			return err
		})
	},
	"Merge": func(v *folio.Volume, r io.Reader, size int) error {
		return v.Merge(context.Background(), oneFile{fstest.MapFS{"f": {Mode: 0o644, Data: make([]byte, size)}}, r}, ".", nil)
	},
}

// A oneFile is a file system in which the content of f comes from a reader.
type oneFile struct {
	fstest.MapFS
	r io.Reader
}

func (o oneFile) Open(name string) (fs.File, error) {
	f, err := o.MapFS.Open(name)
	if s, ok := o.r.(*sparseReader); ok && name == "f" {
		return sparseFile{f, s}, err
	}
	return readerFile{f, o.r}, err
}

type readerFile struct {
	fs.File
	r io.Reader
}

func (f readerFile) Read(p []byte) (int, error) { return f.r.Read(p) }

type sparseFile struct {
	fs.File
	*sparseReader
}

func (f sparseFile) Read(p []byte) (int, error) { return f.sparseReader.Read(p) }

// Each call that takes a content must keep the holes that the content tells, and no more than it
// does of zeros.
func TestTakeSparse(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	for call, take := range takers {
		for name, content := range sparseContents() {
			sparse, plain := volumetest.Empty(t), volumetest.Empty(t)
			r := &sparseReader{rest: content}
			must.Do(t, take(sparse, r, len(content)))
			must.Do(t, take(plain, struct{ io.Reader }{bytes.NewReader(content)}, len(content)))
			got, err := sparse.ReadFile("f")
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s, %s: %d bytes, %v", call, name, len(got), err)
			}
			if a, b := nodeOf(t, sparse), nodeOf(t, plain); a.Size != b.Size || a.Holes != b.Holes {
				t.Errorf("%s, %s: %+v, without holes told %+v", call, name, a, b)
			}
			if len(content) > 60*store.ChunkSize && r.skipped == 0 {
				t.Errorf("%s, %s: nothing is skipped", call, name)
			}
			volumetest.WantClean(t, sparse)
		}
	}
}

// A content that lies about its holes, or fails, is an error, and leaves nothing.
func TestSparseLies(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for call, take := range takers {
		for _, tt := range []struct {
			n    int64
			err  error
			want error
		}{
			{n: -store.ChunkSize},
			{n: 1},
			{n: store.MaxSize + store.ChunkSize, want: folio.ErrTooLarge},
			{n: 1 << 62, want: folio.ErrTooLarge},
			{err: broken, want: broken},
			{err: io.EOF},
		} {
			v := volumetest.Empty(t)
			err := take(v, &sparseReader{rest: []byte("data"), bad: tt.n, err: tt.err}, 4)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("%s, %+v: %v", call, tt, err)
			}
			if list, err := v.ReadDir("."); len(list) > 0 || err != nil {
				t.Errorf("%s, %+v leaves %v, %v", call, tt, list, err)
			}
			volumetest.WantClean(t, v)
		}
	}
}

func nodeOf(t testing.TB, v *folio.Volume) *folio.Node {
	t.Helper()
	info, err := v.Stat("f")
	must.Do(t, err)
	return info.Sys().(*folio.Node)
}
