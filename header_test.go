package folio_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"testing"
	"testing/iotest"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/volumetest"
)

// kinds are headers of every type, with all that a header can say.
func kinds() []folio.Header {
	at := func(s int64) time.Time { return time.Unix(s, 123456789) }
	h := folio.Header{ModTime: at(1e9), AccessTime: at(2e9), ChangeTime: at(3e9), UID: 17, GID: 4e9}
	var list []folio.Header
	for name, mode := range map[string]fs.FileMode{
		"file": 0o640 | fs.ModeSetuid, "dir": fs.ModeDir | fs.ModeSticky | 0o711, "link": fs.ModeSymlink | 0o777,
		"fifo": fs.ModeNamedPipe | 0o600, "socket": fs.ModeSocket | 0o755, "char": fs.ModeDevice | fs.ModeCharDevice | 0o666,
		"block": fs.ModeDevice | 0o660,
	} {
		h.Name, h.Mode, h.Linkname, h.Rdev, h.Xattrs = name, mode, "", 0, nil
		switch {
		case mode&fs.ModeSymlink != 0:
			h.Linkname = "../out"
		case mode&fs.ModeDevice != 0:
			h.Rdev = 0x801
		case mode.IsRegular() || mode.IsDir():
			h.Xattrs = map[string][]byte{"user.a": []byte("1"), "user.empty": {}}
		}
		list = append(list, h)
	}
	return list
}

// wantHeader checks that a file has all that a header says.
func wantHeader(t *testing.T, v *folio.Volume, h *folio.Header) {
	t.Helper()
	info, err := v.Lstat(h.Name)
	must.Do(t, err)
	n := info.Sys().(*folio.Node)
	if info.Mode() != h.Mode || n.UID != h.UID || n.GID != h.GID || n.Rdev != h.Rdev || n.Mtime != h.ModTime.UnixNano() ||
		n.Atime != h.AccessTime.UnixNano() || n.Ctime != h.ChangeTime.UnixNano() {
		t.Errorf("%s: %v, %+v; want %+v", h.Name, info.Mode(), n, h)
	}
	attrs, err := v.Xattrs(h.Name)
	if err != nil || !maps.EqualFunc(attrs, h.Xattrs, bytes.Equal) {
		t.Errorf("%s: attributes %q, %v; want %q", h.Name, attrs, err, h.Xattrs)
	}
	if h.Linkname != "" {
		if target, err := v.Readlink(h.Name); err != nil || target != h.Linkname {
			t.Errorf("%s: leads to %q, %v", h.Name, target, err)
		}
	}
}

func update(t *testing.T, v *folio.Volume, fn func(tx *folio.Tx) error) {
	t.Helper()
	must.Do(t, v.Update(t.Context(), fn))
}

func TestTxAdd(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	list := kinds()
	update(t, v, func(tx *folio.Tx) error {
		for i := range list {
			must.Do(t, tx.AddBytes(&list[i], []byte("content")))
		}
		return tx.Add(&folio.Header{Name: "dir/none"}, nil)
	})
	for i := range list {
		h := &list[i]
		if h.Name == "dir" {
			continue // something was put into it
		}
		wantHeader(t, v, h)
	}
	volumetest.WantFile(t, v, "file", "content")
	volumetest.WantFile(t, v, "dir/none", "")
	volumetest.WantClean(t, v)
}

// Whole chunks of zeros take no room, wherever they are.
func TestTxAddHoles(t *testing.T) {
	t.Parallel()
	const chunk = 1 << 16
	zeros, text := make([]byte, 20*chunk), bytes.Repeat([]byte("x"), 20*chunk)
	tests := []struct {
		name  string
		parts [][]byte
		holes int64
	}{
		{"nothing", nil, 0},
		{"short zeros", [][]byte{zeros[:chunk-1]}, 0},
		{"only zeros", [][]byte{zeros[:17*chunk]}, 17 * chunk},
		{"at the start", [][]byte{zeros[:2*chunk], text[:5]}, 2 * chunk},
		{"in the middle", [][]byte{text[:chunk], zeros, text[:chunk+1]}, 20 * chunk},
		{"at the end", [][]byte{text[:18*chunk], zeros[:3*chunk]}, 3 * chunk},
		{"a part at the end", [][]byte{text[:chunk], zeros[:chunk+1]}, chunk},
		{"across chunks", [][]byte{text[:chunk/2], zeros[:chunk], text[:chunk]}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, content := volumetest.Empty(t), bytes.Join(tt.parts, nil)
			update(t, v, func(tx *folio.Tx) error {
				must.Do(t, tx.AddBytes(&folio.Header{Name: "bytes"}, content))
				return tx.Add(&folio.Header{Name: "reader"}, iotest.HalfReader(bytes.NewReader(content)))
			})
			for _, name := range []string{"bytes", "reader"} {
				volumetest.WantFile(t, v, name, string(content))
				info, err := v.Stat(name)
				must.Do(t, err)
				if n := info.Sys().(*folio.Node); n.Holes != tt.holes {
					t.Errorf("%s: %d bytes are holes, want %d", name, n.Holes, tt.holes)
				}
			}
			volumetest.WantClean(t, v)
		})
	}
}

func TestTxAddRefuses(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	must.Do(t, v.WriteFile("file", []byte("x"), 0o600))
	own := errors.New("own")
	tests := []struct {
		name string
		h    folio.Header
		want error
	}{
		{"there", folio.Header{Name: "file"}, fs.ErrExist},
		{"root", folio.Header{Name: ".", Mode: fs.ModeDir}, fs.ErrExist},
		{"no directory", folio.Header{Name: "none/a"}, fs.ErrNotExist},
		{"below a file", folio.Header{Name: "file/a"}, folio.ErrNotDirectory},
		{"out", folio.Header{Name: "../a"}, folio.ErrEscapes},
		{"no target", folio.Header{Name: "l", Mode: fs.ModeSymlink}, fs.ErrInvalid},
		{"type", folio.Header{Name: "i", Mode: fs.ModeIrregular}, errors.ErrUnsupported},
		{"attribute", folio.Header{Name: "x", Xattrs: map[string][]byte{"": nil}}, fs.ErrInvalid},
	}
	update(t, v, func(tx *folio.Tx) error {
		for _, tt := range tests {
			err := tx.Add(&tt.h, nil)
			if e, ok := errors.AsType[*fs.PathError](err); !errors.Is(err, tt.want) || !ok || e.Path != tt.h.Name {
				t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
			}
		}
		return nil
	})
	err := v.Update(t.Context(), func(tx *folio.Tx) error {
		return tx.Add(&folio.Header{Name: "new"}, io.MultiReader(bytes.NewReader(make([]byte, 3<<20)), iotest.ErrReader(own)))
	})
	if !errors.Is(err, own) {
		t.Errorf("got %v", err)
	}
	volumetest.WantNone(t, v, "new")
	volumetest.WantClean(t, v)
}

// TestTxAddHalf adds a file whose content breaks off, and goes on as if nothing was wrong: nothing
// is committed.
func TestTxAddHalf(t *testing.T) {
	t.Parallel()
	v, broken := volumetest.Empty(t), errors.New("broken")
	err := v.Update(t.Context(), func(tx *folio.Tx) error {
		content := io.MultiReader(bytes.NewReader(bytes.Repeat([]byte("x"), 100_000)), iotest.ErrReader(broken))
		if err := tx.Add(&folio.Header{Name: "half"}, content); !errors.Is(err, broken) {
			t.Errorf("Add: %v", err)
		}
		return tx.WriteFile("other", nil, 0o644)
	})
	if e, ok := errors.AsType[*fs.PathError](err); !errors.Is(err, broken) || !ok || e.Path != "half" {
		t.Errorf("Update: %v", err)
	}
	volumetest.WantNone(t, v, "half")
	volumetest.WantNone(t, v, "other")
	volumetest.WantClean(t, v)
}

func TestTxSetHeader(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	list := kinds()
	update(t, v, func(tx *folio.Tx) error {
		for i := range list {
			h := list[i]
			must.Do(t, tx.AddBytes(&folio.Header{Name: h.Name, Mode: h.Mode.Type(), Linkname: h.Linkname, Rdev: h.Rdev}, []byte("content")))
			must.Do(t, tx.SetXattr(h.Name, "user.old", []byte("goes")))
			must.Do(t, tx.SetHeader(&h))
		}
		return nil
	})
	for i := range list {
		wantHeader(t, v, &list[i])
	}
	volumetest.WantFile(t, v, "file", "content")
	volumetest.WantClean(t, v)

	for name, want := range map[string]error{"file": fs.ErrInvalid, "none": fs.ErrNotExist} {
		err := v.Update(t.Context(), func(tx *folio.Tx) error { return tx.SetHeader(&folio.Header{Name: name, Mode: fs.ModeDir}) })
		if e, ok := errors.AsType[*fs.PathError](err); !errors.Is(err, want) || !ok || e.Path != name {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}
