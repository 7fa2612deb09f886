package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

var damageAll = flag.Bool("damage.all", false, "cut archives at every byte and change every byte, rather than some")

// step is how far apart the bytes of an archive are that a test tries.
func step(size int) int {
	if *damageAll {
		return 1
	}
	return max(1, size/600) | 1
}

// A sample is a whole archive, and whether it has checksums of its contents.
type sample struct {
	data   []byte
	stream bool
	summed bool
}

// samples returns an archive of each kind, with files of which every byte matters.
func samples(t *testing.T) map[string]sample {
	t.Helper()
	long := strings.Repeat("n", 150)
	zeros := file("zeros", string(make([]byte, 513)))
	link := member{tar.Header{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "a"}, ""}
	members := makeTar(t, file("a", "hello"), file(long, "x"), zeros, link, file("empty", ""), file("a", "again"), zeros)
	once := makeTar(t, file("a", "hello"), file(long, "x"), link, file("empty", ""), zeros)
	stored := zipEntry("inner.zip", 0o600, string(makeZip(t, zipEntry("inner", 0o644, "hello"))))
	stored.Method = zip.Store
	zipped := makeZip(t, stored, zipEntry("d/", 0o700|fs.ModeDir, ""), zipEntry("d/f", 0o644, strings.Repeat("text", 50)),
		zipEntry("l", 0o777|fs.ModeSymlink, "d/f"))
	return map[string]sample{
		"tar":        {members, false, false},
		"tar stream": {once, true, false},
		"tar.gz":     {gzipped(t, once), false, true},
		"tar.zst":    {zstandard(t, once), false, true},
		"zip":        {zipped, false, true},
		"sqlar":      {sqlarBytes(t), false, true},
	}
}

func sqlarBytes(t *testing.T) []byte {
	t.Helper()
	text := strings.Repeat("text", 50)
	src := makeSqlar(
		t,
		[]any{"a", 0o100644, 7, len(text), deflated(t, text)},
		[]any{"d", 0o040750, 7, 0, nil},
		[]any{"d/large", 0o100644, 7, 10000, deflated(t, strings.Repeat("0123456789", 1000))},
	)
	defer src.Close()
	data, err := os.ReadFile(src.(*sqlarSource).db.Path())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// An archive that is cut anywhere is refused, or gives all that it gave whole.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	for name, s := range samples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := collectData(t, s.data, s.stream)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "cut")
			for size := 0; size < len(s.data); size += step(len(s.data)) {
				got, err := collectFile(t, path, s.data[:size], s.stream)
				if err == nil && !slices.Equal(got, want) {
					t.Errorf("cut to %d of %d bytes: %q", size, len(s.data), got)
				}
			}
		})
	}
}

// An archive of which any one byte was changed is refused, or gives every content that it gave
// whole. Names, modes and owners may differ: zip has no checksum of these.
func TestChangedAnywhere(t *testing.T) {
	t.Parallel()
	for name, s := range samples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := contentsOf(t, filepath.Join(t.TempDir(), "whole"), s.data, s.stream)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "changed")
			for i := 0; i < len(s.data); i += step(len(s.data)) {
				for _, bits := range []byte{1 << (i % 8), 0xff} {
					data := bytes.Clone(s.data)
					data[i] ^= bits
					got, err := contentsOf(t, path, data, s.stream)
					if err == nil && lacks(got, want, s.summed) {
						t.Errorf("byte %d of %d changed by %#x: %q", i, len(s.data), bits, got)
					}
				}
			}
		})
	}
}

// lacks reports whether contents are missing: exactly, or if other contents may have come in their
// place, by their lengths.
func lacks(got, want []string, exact bool) bool {
	if exact {
		return !slices.Equal(got, want)
	}
	lengths := func(list []string) (n []int) {
		for _, s := range list {
			n = append(n, len(s))
		}
		slices.Sort(n)
		return n
	}
	return !slices.Equal(lengths(got), lengths(want))
}

// contentsOf returns the contents of files and the targets of symbolic links in an archive, sorted.
func contentsOf(t *testing.T, path string, data []byte, stream bool) ([]string, error) {
	t.Helper()
	src, err := openData(t, path, data, stream)
	if err != nil {
		return nil, err
	}
	var list []string
	err = src.Walk(t.Context(), func(e *tree.Entry) error {
		if e.Mode.IsRegular() && e.Link == "" {
			list = append(list, string(e.Data))
		} else {
			list = append(list, e.Linkname)
		}
		return nil
	})
	slices.Sort(list)
	return list, errors.Join(err, src.Close())
}

func collectFile(t *testing.T, path string, data []byte, stream bool) ([]string, error) {
	t.Helper()
	src, err := openData(t, path, data, stream)
	if err != nil {
		return nil, err
	}
	return treetest.Collect(src)
}

func openData(t *testing.T, path string, data []byte, stream bool) (tree.Source, error) {
	t.Helper()
	if stream {
		return Open("-", bytes.NewReader(data), nil)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(path, nil, nil)
}

// A zip entry whose header lies beyond the archive, small or large, is no empty file.
func TestZipEntryBeyondTheEnd(t *testing.T) {
	t.Parallel()
	for _, size := range []int{5, 3 * tree.SmallSize} {
		data := makeZip(t, zipEntry("first", 0o644, "x"), zipEntry("a", 0o644, strings.Repeat("x", size)))
		at := bytes.LastIndex(data, []byte("PK\x01\x02"))
		copy(data[at+42:], "\xf0\xff\xff\xff")
		lines, err := collectData(t, data, false)
		if !errors.Is(err, tree.ErrTruncated) {
			t.Errorf("%d bytes: %q, %v", size, lines, err)
		}
	}
}

// Zeros are an empty tar archive only if they are as many as tar writes, alone.
func TestBlank(t *testing.T) {
	t.Parallel()
	zeros := make([]byte, 1<<20)
	iso := bytes.Clone(zeros[:64<<10])
	copy(iso[32769:], "CD001")
	whole := makeTar(t, file("a", "x"))
	for name, c := range map[string]struct {
		data []byte
		ok   bool
	}{
		"as package tar writes it":      {zeros[:1024], true},
		"as GNU tar writes it":          {zeros[:10240], true},
		"a record of four blocks":       {zeros[:2048], true},
		"one block":                     {zeros[:512], false},
		"no whole blocks":               {zeros[:1025], false},
		"a little more than a record":   {zeros[:10752], false},
		"a blank disk":                  {zeros, false},
		"an ISO image":                  {iso, false},
		"zeros and garbage":             {append(bytes.Clone(zeros[:1024]), "garbage"...), false},
		"zeros and a block of garbage":  {append(bytes.Clone(zeros[:1024]), bytes.Repeat([]byte("x"), 512)...), false},
		"an archive behind two blocks":  {append(bytes.Clone(zeros[:1024]), whole...), false},
		"an archive behind 20 blocks":   {append(bytes.Clone(zeros[:10240]), whole...), false},
		"an archive behind one of them": {append(bytes.Clone(zeros[:512]), whole...), false},
	} {
		for form, data := range map[string][]byte{"file": c.data, "stream": c.data, "gzip": gzipped(t, c.data)} {
			lines, err := collectData(t, data, form == "stream")
			if len(lines) > 0 || (err == nil) != c.ok {
				t.Errorf("%s, %s: %q, %v", name, form, lines, err)
			}
		}
	}
}
