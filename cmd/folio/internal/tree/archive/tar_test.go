package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

// A member is a header with its content.
type member struct {
	tar.Header
	content string
}

func file(name, content string) member {
	return member{tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}, content}
}

// makeTar writes an archive in PAX format.
func makeTar(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		m.Format = tar.FormatPAX
		if err := w.WriteHeader(&m.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, m.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(t testing.TB, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(data, nil)
}

var tarKinds = []member{
	{Header: tar.Header{Typeflag: tar.TypeDir, Name: "./", Mode: 0o750}},
	{Header: tar.Header{Typeflag: tar.TypeDir, Name: "./d/", Mode: 0o1777}},
	file("./d/small", "hello"),
	{Header: tar.Header{Typeflag: tar.TypeLink, Name: "./d/same", Linkname: "./d/small", Mode: 0o644}},
	{Header: tar.Header{Typeflag: tar.TypeSymlink, Name: "./l", Linkname: "../out", Mode: 0o777}},
	{Header: tar.Header{Typeflag: tar.TypeChar, Name: "./null", Mode: 0o666, Devmajor: 1, Devminor: 3}},
	{Header: tar.Header{Typeflag: tar.TypeBlock, Name: "./disk", Mode: 0o660, Devmajor: 8, Devminor: 300}},
	{Header: tar.Header{Typeflag: tar.TypeFifo, Name: "./pipe", Mode: 0o600}},
	file("./empty", ""),
	file("./large", strings.Repeat("y", tree.SmallSize+12345)),
	{Header: tar.Header{
		Name: "./with", Mode: 0o4755,
		PAXRecords: map[string]string{"SCHILY.xattr.user.k": "v", "SCHILY.xattr.system.x": "no"},
	}},
}

var tarKindLines = []string{
	". drwxr-x---",
	"d dtrwxrwxrwx",
	`d/small -rw-r--r-- "hello"`,
	"d/same == d/small",
	"l Lrwxrwxrwx -> ../out",
	"null Dcrw-rw-rw- 0x103",
	"disk Drw-rw---- 0x10082c",
	"pipe prw-------",
	`empty -rw-r--r-- ""`,
	`large -rw-r--r-- 1060921x"y"`,
	`with urwxr-xr-x "" user.k=v`,
}

// The label of an archive is no file, and a directory of an incremental dump is one. Its content
// are the names of its files.
func TestTarOfGNU(t *testing.T) {
	t.Parallel()
	data := makeTar(t,
		member{tar.Header{Name: "label", Typeflag: typeLabel}, ""},
		member{tar.Header{Name: "d/", Typeflag: typeDumpDir, Mode: 0o750, Size: 4}, "Yf\x00\x00"},
		file("d/f", "hi"),
	)
	for _, stream := range []bool{false, true} {
		lines, err := collectData(t, data, stream)
		if err != nil {
			t.Fatal(err)
		}
		treetest.WantLines(t, lines, []string{"d drwxr-x---", `d/f -rw-r--r-- "hi"`})
	}
}

func TestTarKinds(t *testing.T) {
	t.Parallel()
	plain := makeTar(t, tarKinds...)
	for name, data := range map[string][]byte{"plain": plain, "gzip": gzipped(t, plain), "zstd": zstandard(t, plain)} {
		for _, stream := range []bool{false, true} {
			lines, err := collectData(t, data, stream)
			if err != nil {
				t.Errorf("%s, stream %t: %v", name, stream, err)
			}
			treetest.WantLines(t, lines, tarKindLines)
		}
	}
}

func TestTarTimes(t *testing.T) {
	t.Parallel()
	m := file("f", "")
	m.ModTime, m.AccessTime = time.Unix(1e9, 123456789), time.Unix(2e9, 1)
	m.Uid, m.Gid = 1<<31-1, 70000
	src, err := open(t, makeTar(t, m))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	err = src.Walk(t.Context(), func(e *tree.Entry) error {
		if !e.ModTime.Equal(m.ModTime) || !e.AccessTime.Equal(m.AccessTime) || e.UID != 1<<31-1 || e.GID != 70000 {
			t.Errorf("got %+v", e.Header)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// In an archive that can be read twice, the last member of a name wins.
func TestTarUpdates(t *testing.T) {
	t.Parallel()
	data := makeTar(t, file("a", "1"), file("b", "1"), file("./a", "2"), file("c", "1"), file("a", "3"))
	lines, err := collectData(t, data, false)
	if err != nil {
		t.Fatal(err)
	}
	treetest.WantLines(t, lines, []string{`b -rw-r--r-- "1"`, `c -rw-r--r-- "1"`, `a -rw-r--r-- "3"`})
	lines, err = collectData(t, data, true)
	if err != nil || len(lines) != 5 {
		t.Errorf("as a stream: %q, %v", lines, err)
	}
}

// An archive that ends within a content does so for everyone, read twice or not.
func TestTarCutContent(t *testing.T) {
	t.Parallel()
	for _, size := range []int{3000, tree.SmallSize + 3000} {
		data := makeTar(t, file("a", "x"), file("b", strings.Repeat("y", size)))
		data = data[:len(data)-1024-1000]
		for name, data := range map[string][]byte{"plain": data, "gzip": gzipped(t, data), "zstd": zstandard(t, data)} {
			for _, stream := range []bool{false, true} {
				if _, err := collectData(t, data, stream); !errors.Is(err, tree.ErrTruncated) {
					t.Errorf("%s of %d bytes, stream %t: got %v", name, size, stream, err)
				}
			}
		}
	}
}

func TestTarHostile(t *testing.T) {
	t.Parallel()
	link := func(typ byte, name, to string) member {
		return member{Header: tar.Header{Typeflag: typ, Name: name, Linkname: to}}
	}
	tests := []struct {
		name string
		bad  member
		want error
	}{
		{"absolute and up", file("/../passwd", "x"), tree.ErrName},
		{"up", file("../x", "x"), tree.ErrName},
		{"up and down", file("a/../../x", "x"), tree.ErrName},
		{"hard link up", link(tar.TypeLink, "x", "../y"), tree.ErrName},
		{"absolute hard link", link(tar.TypeLink, "x", "/../passwd"), tree.ErrName},
		{"empty", link(tar.TypeDir, "", ""), tree.ErrName},
		{"too long", file(strings.Repeat("x/", 1<<16), ""), tree.ErrName},
		{"device", member{Header: tar.Header{Typeflag: tar.TypeChar, Name: "d", Devmajor: 1 << 40}}, tree.ErrType},
		{"owner", member{Header: tar.Header{Name: "o", Uid: -1 << (strconv.IntSize - 8)}}, tree.ErrOwner},
		{"negative owner", member{Header: tar.Header{Name: "o", Gid: -1}}, tree.ErrOwner},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, stream := range []bool{false, true} {
				lines, err := collectData(t, makeHostile(t, tt.bad), stream)
				e, ok := errors.AsType[*tree.EntryError](err)
				if !ok || !errors.Is(err, tt.want) || e.Name != tt.bad.Name {
					t.Errorf("stream %t: got %v after %q, want %v", stream, err, lines, tt.want)
				}
			}
		})
	}
}

// rawTar writes an archive block by block: PAX records, which package tar would not write, and an
// empty file.
func rawTar(records map[string]string) []byte {
	var pax strings.Builder
	for key, value := range records {
		line := " " + key + "=" + value + "\n"
		n := len(line) + 2 // for lines of 10 to 99 bytes
		fmt.Fprintf(&pax, "%d%s", n, line)
	}
	data := append(rawHeader("pax", 'x', pax.Len()), pax.String()...)
	data = append(data, make([]byte, -len(data)&511)...)
	data = append(data, rawHeader("s", '0', 0)...)
	return append(data, make([]byte, 1024)...)
}

func rawHeader(name string, typ byte, size int) []byte {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], "0000644\x000000000\x000000000\x00")
	copy(h[124:], fmt.Sprintf("%011o\x00%011o\x00        ", size, 0))
	h[156] = typ
	copy(h[257:], "ustar\x0000")
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return h
}

// A file of 8 EiB that is all hole is not waited for.
func TestTarSparse(t *testing.T) {
	t.Parallel()
	sparse := func(size string) []byte {
		return rawTar(map[string]string{
			"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.numblocks": "1", "GNU.sparse.map": "0,0",
			"GNU.sparse.size": size,
		})
	}
	lines, err := collectData(t, sparse("3000000"), false)
	if want := []string{`s -rw-r--r-- 3000000x"\x00"`}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("%q, %v", lines, err)
	}
	if _, err := collectData(t, sparse("9223372036854775807"), false); !errors.Is(err, folio.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

// makeHostile writes an archive in a format that can say it.
func makeHostile(t *testing.T, bad member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	ok := file("ok", "")
	for _, m := range []member{ok, bad} {
		if m.Devmajor > 0 || m.Gid < 0 || m.Uid < 0 {
			m.Format = tar.FormatGNU
		}
		if err := w.WriteHeader(&m.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, m.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An archive that was cut off anywhere is never taken for a whole one.
func TestTarTruncated(t *testing.T) {
	t.Parallel()
	plain := makeTar(t, file("a", strings.Repeat("x", 700)), file("b", ""), file("c", strings.Repeat("\x00", 1024)))
	for n := 1; n < len(plain)-512; n += 31 {
		for _, stream := range []bool{false, true} {
			if lines, err := collectData(t, plain[:n], stream); err == nil {
				t.Fatalf("%d of %d bytes, stream %t: %q", n, len(plain), stream, lines)
			}
		}
	}
	for _, packed := range [][]byte{gzipped(t, plain), zstandard(t, plain)} {
		for n := 1; n < len(packed); n++ {
			if lines, err := collectData(t, packed[:n], true); err == nil {
				t.Fatalf("%d of %d bytes, compressed: %q", n, len(packed), lines)
			}
		}
	}
}

// A damaged compressed archive either gives an error or, where the damage is in what gzip does not
// use, the content.
func TestTarGzipDamaged(t *testing.T) {
	t.Parallel()
	plain := makeTar(t, file("a", "hello"), file("b", strings.Repeat("world", 100)))
	packed := gzipped(t, plain)
	want, err := collectData(t, packed, true)
	if err != nil {
		t.Fatal(err)
	}
	for i := 10; i < len(packed); i++ {
		damaged := bytes.Clone(packed)
		damaged[i] ^= 0x10
		if got, err := collectData(t, damaged, true); err == nil {
			treetest.WantLines(t, got, want)
		}
	}
}

func TestTarGzipChecksum(t *testing.T) {
	t.Parallel()
	packed := gzipped(t, makeTar(t, file("a", "hello")))
	packed[len(packed)-8] ^= 1
	if _, err := collectData(t, packed, true); !errors.Is(err, tree.ErrChecksum) {
		t.Errorf("got %v", err)
	}
}

// A walk ends with its context, even when the archive comes from someone who does not write.
func TestTarStuck(t *testing.T) {
	t.Parallel()
	head := makeTar(t, file("a", "hello"), file("b", strings.Repeat("x", 2*tree.SmallSize)))
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = w.Write(head[:len(head)/2])
		cancel()
	}()
	src, err := Open("-", r, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = src.Walk(ctx, func(e *tree.Entry) error {
		_, err := treetest.Describe(e)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestTarZstdErrors(t *testing.T) {
	t.Parallel()
	packed := zstandard(t, makeTar(t, file("a", "hello")))
	packed[len(packed)-1] ^= 1
	if _, err := collectData(t, packed, true); !errors.Is(err, tree.ErrChecksum) {
		t.Errorf("wrong checksum: %v", err)
	}
	own := errors.New("own")
	src, err := Open("-", io.MultiReader(bytes.NewReader(packed[:40]), iotest.ErrReader(own)), nil)
	if err == nil {
		_, err = treetest.Collect(src)
	}
	if !errors.Is(err, own) {
		t.Errorf("an error of reading: %v", err)
	}
	window := []byte(zstdMagic + "\x00\xff") // a frame with a window of 3.75 TiB
	window = append(window, make([]byte, 600)...)
	if _, err := collectData(t, window, true); !errors.Is(err, errWindow) {
		t.Errorf("a large window: %v", err)
	}
}

func TestTarReadError(t *testing.T) {
	t.Parallel()
	own := errors.New("own")
	data := makeTar(t, file("a", "hello"), file("b", strings.Repeat("x", 2*tree.SmallSize)))
	for n := 512; n < len(data); n += 100_000 {
		src, err := Open("-", io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(own)), nil)
		if err == nil {
			_, err = treetest.Collect(src)
		}
		if !errors.Is(err, own) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

// Any bytes whatever give entries or an error.
func FuzzTar(f *testing.F) {
	plain := makeTar(f, tarKinds[:8]...)
	f.Add(plain)
	f.Add(gzipped(f, plain))
	f.Add(zstandard(f, plain))
	f.Add([]byte("BZh91AY&SY"))
	f.Fuzz(func(t *testing.T, data []byte) {
		src, err := Open("-", bytes.NewReader(data), &tree.Options{MaxSize: 64 << 20})
		if err != nil {
			return
		}
		if lines, err := treetest.Collect(src); err == nil {
			for _, line := range lines {
				if strings.HasPrefix(line, "/") || strings.HasPrefix(line, "../") {
					t.Errorf("entry %q", line)
				}
			}
		}
	})
}
