package posix_test

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/posix"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err   error
		is    []error
		isNot error
	}{
		{posix.ErrNotEmpty, []error{syscall.ENOTEMPTY, fs.ErrExist}, syscall.EEXIST},
		{posix.ErrNotPermitted, []error{syscall.EPERM, fs.ErrPermission}, fs.ErrExist},
		{posix.ErrNotDirectory, []error{syscall.ENOTDIR, posix.ErrNotDirectory}, fs.ErrNotExist},
		{posix.ErrIsDirectory, []error{syscall.EISDIR, posix.ErrIsDirectory}, posix.ErrNotDirectory},
		{posix.Named(fs.ErrNotExist), []error{syscall.ENOENT, fs.ErrNotExist}, fs.ErrExist},
		{posix.Named(fs.ErrExist), []error{syscall.EEXIST, fs.ErrExist}, syscall.ENOTEMPTY},
		{posix.Named(fs.ErrInvalid), []error{syscall.EINVAL, fs.ErrInvalid}, syscall.ENOENT},
		{posix.Named(fs.ErrClosed), []error{fs.ErrClosed}, fs.ErrInvalid},
		{posix.ErrAttribute, []error{fs.ErrNotExist}, syscall.ENOENT},
		{posix.Full("full"), []error{syscall.ENOSPC}, posix.Full("full")},
	} {
		for _, target := range test.is {
			if !errors.Is(test.err, target) {
				t.Errorf("%v is not %v", test.err, target)
			}
		}
		if errors.Is(test.err, test.isNot) {
			t.Errorf("%v is %v", test.err, test.isNot)
		}
	}
}

// TestOldStyle asks as programs did before errors.Is.
func TestOldStyle(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err error
		is  func(error) bool
	}{
		{posix.Named(fs.ErrNotExist), os.IsNotExist},
		{posix.Named(fs.ErrExist), os.IsExist},
		{posix.ErrNotEmpty, os.IsExist},
		{posix.ErrNotPermitted, os.IsPermission},
	} {
		if !test.is(&fs.PathError{Op: "open", Path: "a", Err: test.err}) {
			t.Errorf("%v is not known", test.err)
		}
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flag        int
		read, write bool
	}{{os.O_RDONLY | os.O_CREATE, true, false}, {os.O_WRONLY | os.O_APPEND, false, true}, {os.O_RDWR | os.O_TRUNC, true, true}} {
		if posix.Readable(test.flag) != test.read || posix.Writable(test.flag) != test.write {
			t.Errorf("%#x: %v, %v", test.flag, posix.Readable(test.flag), posix.Writable(test.flag))
		}
	}
	err := posix.LinkError("rename", "a", "b", fs.ErrExist)
	if e, ok := errors.AsType[*os.LinkError](err); !ok || e.Old != "a" || e.New != "b" || !errors.Is(err, fs.ErrExist) {
		t.Errorf("%#v", err)
	}
}
