package volumetest

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
)

// TestErrnos checks that each error of this package is the errno that a file system of the system
// gives, by errors.Is and by errors.As. Those that os.Root has no errno for have none.
func TestErrnos(t *testing.T) {
	t.Parallel()
	const none = syscall.Errno(0)
	v := Empty(t)
	must.Do(t, errors.Join(
		v.WriteFile("f", []byte("content"), 0o644), v.MkdirAll("d/e", 0o755), v.Symlink("loop", "loop"), v.Symlink("..", "up"), v.Mknod("pipe", fs.ModeNamedPipe, 0),
	))
	f, err := v.OpenFile("f", os.O_RDWR, 0)
	must.Do(t, err)
	defer f.Close()
	reading, err := v.Open("f")
	must.Do(t, err)
	defer reading.Close()
	closed, err := v.Open("f")
	must.Do(t, err)
	must.Do(t, closed.Close())
	pipe, err := v.Open("pipe")
	must.Do(t, err)
	defer pipe.Close()
	readOnly, limited := Again(t, v, &folio.Options{ReadOnly: true}), Limited(t, 1<<16)
	damaged := Craft(t, PlainRoot, func(b *native.Builder) error {
		return errors.Join(addNode(b, 2, 0, 1, 0), addEntry(b, 1, "x", 2, store.File))
	})
	now := time.Now()
	for what, test := range map[string]struct {
		err  error
		want syscall.Errno
	}{
		"ErrNotDirectory": {folio.ErrNotDirectory, syscall.ENOTDIR},
		"ErrIsDirectory":  {folio.ErrIsDirectory, syscall.EISDIR},
		"ErrNotRegular":   {folio.ErrNotRegular, syscall.ENXIO},
		"ErrTooManyLinks": {folio.ErrTooManyLinks, syscall.ELOOP},
		"ErrNameTooLong":  {folio.ErrNameTooLong, syscall.ENAMETOOLONG},
		"ErrNotEmpty":     {folio.ErrNotEmpty, syscall.ENOTEMPTY},
		"ErrReadOnly":     {folio.ErrReadOnly, syscall.EROFS},
		"ErrBusy":         {folio.ErrBusy, syscall.EBUSY},
		"ErrFull":         {folio.ErrFull, syscall.ENOSPC},
		"ErrDamaged":      {folio.ErrDamaged, syscall.EIO},
		"ErrTooLarge":     {folio.ErrTooLarge, syscall.EFBIG},
		"ErrEscapes":      {folio.ErrEscapes, none},
		"ErrNotVolume":    {folio.ErrNotVolume, none},

		"no file":             {must.Second(v.Stat("none")), syscall.ENOENT},
		"no name":             {must.Second(v.Stat("")), none}, // as os.Root
		"a file there":        {v.Mkdir("f", 0o755), syscall.EEXIST},
		"a directory there":   {v.Rename("f", "d"), syscall.EEXIST},
		"through a file":      {must.Second(v.Open("f/x")), syscall.ENOTDIR},
		"list of a file":      {must.Second(reading.ReadDir(-1)), syscall.ENOTDIR},
		"read of a directory": {must.Second(v.ReadFile("d")), syscall.EISDIR},
		"a loop":              {must.Second(v.Open("loop")), syscall.ELOOP},
		"a long name":         {v.Mkdir(strings.Repeat("n", 1000), 0o755), syscall.ENAMETOOLONG},
		"a long path":         {must.Second(v.Stat(strings.Repeat("n/", 30_000))), syscall.ENAMETOOLONG},
		"a long target":       {v.Symlink(strings.Repeat("n", 40_000), "x"), syscall.ENAMETOOLONG},
		"a NUL":               {v.Mkdir("a\x00b", 0o755), syscall.EINVAL},
		"not empty":           {v.Remove("d"), syscall.ENOTEMPTY},
		"the root removed":    {v.Remove("."), syscall.EINVAL},
		"the root moved":      {v.Rename(".", "x"), syscall.EBUSY},
		"into itself":         {v.Rename("d", "d/e/x"), syscall.EINVAL},
		"a directory linked":  {v.Link("d", "x"), syscall.EPERM},
		"no link":             {must.Second(v.Readlink("f")), syscall.EINVAL},
		"out of the volume":   {must.Second(v.Stat("../x")), none},
		"out by a link":       {must.Second(v.Stat("up/x")), none},
		"a mode":              {v.Mkdir("x", fs.ModeSetuid), none},
		"a flag":              {must.Second(v.OpenFile("d", os.O_RDWR, 0)), syscall.EISDIR},
		"a negative size":     {f.Truncate(-1), syscall.EINVAL},
		"a size too large":    {f.Truncate(1 << 60), syscall.EFBIG},
		"an offset too large": {must.Second(f.WriteAt([]byte("x"), 1<<60)), syscall.EFBIG},
		"a negative offset":   {must.Second(f.ReadAt(make([]byte, 1), -1)), none},
		"a seek before":       {must.Second(f.Seek(-1, io.SeekStart)), syscall.EINVAL},
		"a seek beyond":       {must.Second(f.Seek(math.MaxInt64, io.SeekEnd)), syscall.EINVAL},
		"a seek from nowhere": {must.Second(f.Seek(0, 9)), syscall.EINVAL},
		"writing for reading": {must.Second(reading.Write([]byte("x"))), syscall.EBADF},
		"cutting for reading": {reading.Truncate(0), syscall.EINVAL},
		"closed":              {must.Second(closed.Read(make([]byte, 1))), none},
		"closed twice":        {closed.Close(), none},
		"read of a pipe":      {must.Second(pipe.Read(make([]byte, 1))), syscall.ENXIO},
		"a large attribute":   {v.SetXattr("f", "user.a", make([]byte, 1<<17)), syscall.EINVAL},
		"an attribute's name": {v.SetXattr("f", "", nil), syscall.EINVAL},
		"a header's target":   {v.Update(t.Context(), func(tx *folio.Tx) error { return tx.Add(&folio.Header{Name: "x", Mode: fs.ModeSymlink}, nil) }), syscall.EINVAL},
		"a header's attribute": {v.Update(t.Context(), func(tx *folio.Tx) error {
			return tx.Add(&folio.Header{Name: "x", Xattrs: map[string][]byte{"": nil}}, nil)
		}), syscall.EINVAL},
		"a header's type":     {v.Update(t.Context(), func(tx *folio.Tx) error { return tx.Add(&folio.Header{Name: "x", Mode: fs.ModeIrregular}, nil) }), syscall.ENOTSUP},
		"a merge into itself": {v.Merge(t.Context(), v.FS(), "d", nil), syscall.EINVAL},
		"a merge over a file": {v.Merge(t.Context(), fstest.MapFS{"f": {}}, ".", nil), syscall.EEXIST},
		"a path of io/fs":     {must.Second(fs.Stat(v.FS(), "/x")), none},
		"a read-only volume":  {readOnly.Mkdir("x", 0o755), syscall.EROFS},
		"times, read-only":    {readOnly.Chtimes("f", now, now), syscall.EROFS},
		"a quota":             {limited.WriteFile("x", make([]byte, 1<<18), 0o644), syscall.ENOSPC},
		"damage":              {must.Second(damaged.Stat("x")), syscall.EIO},
		"no volume":           {must.Second(folio.Open(t.TempDir()+"/none", nil)), syscall.ENOENT},
	} {
		errno, ok := errors.AsType[syscall.Errno](test.err)
		switch {
		case test.err == nil:
			t.Errorf("%s: no error", what)
		case ok != (test.want != none) || errno != test.want:
			t.Errorf("%s: %v is errno %q, %v; want %q", what, test.err, errno, ok, test.want)
		case ok && (!errors.Is(test.err, errno) || errors.Is(errno, fs.ErrExist) != errors.Is(test.err, fs.ErrExist)):
			t.Errorf("%s: %v is not %v", what, test.err, errno)
		}
	}
}

// TestClosedRootView asks a Root that was closed by way of io/fs for files that the caches of its
// volume know.
func TestClosedRootView(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	must.Do(t, v.MkdirAll("d/e", 0o755))
	root, err := v.OpenRoot(".")
	must.Do(t, err)
	view := root.FS()
	for range 3 {
		must.Do(t, errors.Join(must.Second(fs.Stat(view, "d")), must.Second(fs.ReadDir(view, "d"))))
	}
	must.Do(t, root.Close())
	for what, err := range map[string]error{"Stat": must.Second(fs.Stat(view, "d")), "ReadDir": must.Second(fs.ReadDir(view, "d")), "Open": must.Second(view.Open("d"))} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
