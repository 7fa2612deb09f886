package pager

import (
	"io/fs"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// Other processes find a file by its name. Everything that is written to a file that has lost its
// name is lost with it: before a commit is acknowledged, the files that hold it are looked at under
// their names.

// lookEvery is how often that is done where commits are not synced. Where they are, it is each
// time.
const lookEvery = time.Millisecond

// inPlace ends writing if a file is not to be found under its name any more. The error matches
// ErrMoved.
func (c *core) inPlace(files ...osfile.Handle) error {
	for _, f := range files {
		moved, err := f.Moved()
		if err != nil {
			return err
		}
		if moved {
			return c.movedAway("commit", f)
		}
	}
	return nil
}

// stillInPlace is inPlace for a commit that is written already. A look that fails tells nothing,
// and must not make an error of it: the user may have lost the right to look into the directory,
// for example.
func (c *core) stillInPlace(files ...osfile.Handle) error {
	for _, f := range files {
		if moved, err := f.Moved(); moved && err == nil {
			return c.movedAway("commit", f)
		}
	}
	return nil
}

func (c *core) movedAway(op string, f osfile.Handle) error {
	return c.stop(&fs.PathError{Op: op, Path: f.Name(), Err: dberr.ErrMoved})
}

// whole ends writing if the log was cut off before the end of frame last, or its index before the
// end of the part that was in use.
func (c *core) whole(log *wal.Log, last uint32) error {
	cut, err := log.Cut(last)
	if cut {
		return c.stop(err)
	}
	return err
}

// stop ends writing because a file was cut off, moved or replaced.
func (c *core) stop(err error) error {
	c.fail(err)
	return err
}
