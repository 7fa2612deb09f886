package store

import (
	"errors"
	"fmt"

	"github.com/foliofs/folio/internal/posix"
)

var (
	// ErrNotVolume says that a database belongs to another application.
	ErrNotVolume = errors.New("a SQLite database, but not a Folio volume")
	// ErrNewerVersion says that a volume was made by a later version of Folio.
	ErrNewerVersion = errors.New("made by a newer Folio; update to open it")
	// ErrDamaged says that the rows of a volume contradict each other. For example, a name leads to
	// no inode, or a chunk is missing (S4, S7).
	ErrDamaged = posix.Damaged("volume is damaged")
	// ErrTooLarge says that a file has more bytes than MaxSize.
	ErrTooLarge = posix.TooLarge("file too large")
	// ErrReadOnly says that a volume cannot be changed: it was opened so, or its file or disk is
	// read-only.
	ErrReadOnly = posix.ReadOnly("volume is read-only")
	// ErrBusy says that another transaction or process was in the way for longer than the busy
	// timeout.
	ErrBusy = posix.Busy("volume is busy")
	// ErrUnreachable says that the server of a volume cannot be reached, or that the connection to
	// it broke.
	ErrUnreachable = posix.TimedOut("the connection to the server broke")
	// ErrFull says that there is no room: on the disk, in the volume, or among the numbers of
	// inodes.
	ErrFull = posix.Full("volume or disk is full")
	// ErrWALRemains says that Close has left a log next to the volume. Nothing is lost.
	ErrWALRemains = errors.New("the log stays next to the volume: keep the two together")
)

// Damaged makes an error that matches ErrDamaged.
func Damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}
