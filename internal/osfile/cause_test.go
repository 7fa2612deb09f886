package osfile_test

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
)

func TestCause(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err              error
		full, unwritable bool
	}{
		{nil, false, false},
		{errors.New("no space left on device"), false, false},
		{syscall.ENOSPC, true, false},
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}, true, false},
		{syscall.EFBIG, true, false},
		{syscall.EIO, false, false},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, false, true},
		{syscall.EROFS, false, true},
		{fs.ErrNotExist, false, false},
	} {
		if got := osfile.Full(tt.err); got != tt.full {
			t.Errorf("Full(%v) = %v", tt.err, got)
		}
		if got := osfile.Unwritable(tt.err); got != tt.unwritable {
			t.Errorf("Unwritable(%v) = %v", tt.err, got)
		}
	}
}
