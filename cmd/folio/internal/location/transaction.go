package location

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
)

const (
	CreatesOne  = "--create makes an empty one first"
	notWritable = "its file, and the directory that it lies in, must be writable"
)

// openFor opens the volume for a command that changes it. create is the value of the command's
// flag --create, nil if it has none.
func (l Location) openFor(create *bool) (*folio.Volume, error) {
	if err := l.CheckWritable(); err != nil {
		return nil, err
	}
	v, err := l.OpenVolume(&folio.Options{Create: create != nil && *create})
	if errors.Is(err, fs.ErrNotExist) && !OnServer(l.Volume) && (create == nil || !*create) {
		err = &fs.PathError{Path: l.Volume, Err: failure.ErrNoVolume}
		if create != nil {
			err = failure.Rehint(err, CreatesOne)
		}
	}
	return v, l.openFailure(err)
}

// Update calls fn with a transaction on the volume that openFor opens. Errors of fn stay as they
// are. Any other error names the volume.
func (l Location) Update(ctx context.Context, s *terminal.Streams, create *bool, fn func(tx *folio.Tx) error) error {
	v, err := l.openFor(create)
	if err != nil {
		return err
	}
	var own error
	err = v.Update(ctx, func(tx *folio.Tx) error {
		own = fn(tx)
		return own
	})
	if closed := CloseVolume(s, v); err == nil {
		err = closed
	}
	return s.Tell(l.updateFailure(own, err))
}

// CloseVolume closes a volume that was written to. If its log had to stay next to it, that is only
// a warning, because all changes are committed.
func CloseVolume(s *terminal.Streams, v io.Closer) error {
	err := v.Close()
	if errors.Is(err, folio.ErrWALRemains) {
		s.Warn(err)
		return nil
	}
	return err
}

// updateFailure adds the way out to an error of Update. own is the error of the function; it names
// its file already.
func (l Location) updateFailure(own, err error) error {
	switch {
	case err == nil:
		return nil
	case own == nil:
		err = failure.At(l.Volume, err)
	}
	switch {
	case errors.Is(err, folio.ErrFull):
		return failure.Hint(err, failure.NothingChanged)
	case errors.Is(err, folio.ErrReadOnly):
		return l.ReadOnly(err)
	}
	return err
}

// ReadOnly says why a volume cannot be written to, and how to get past that.
func (l Location) ReadOnly(err error) error {
	e, ok := errors.AsType[*fs.PathError](err)
	switch {
	case ok && e.Path == l.Volume && e.Err != folio.ErrReadOnly:
		return err // which says so itself
	case ok && OnServer(l.Volume):
		return failure.At(l.Volume, e.Err)
	case OnServer(l.Volume):
		return failure.At(l.Volume, err)
	}
	return failure.Hint(failure.At(l.Volume, folio.ErrReadOnly), notWritable)
}

// Change calls fn for each operand, in one transaction for each run of operands in a volume. An
// error of one leaves the volume as it was.
func Change(ctx context.Context, s *terminal.Streams, args []string, create *bool, fn func(tx *folio.Tx, o *Operand) error) error {
	operands := ParseOperands(args)
	for i := range operands {
		if err := operands[i].CheckWritable(); err != nil {
			return err
		}
	}
	for len(operands) > 0 {
		same := 1
		for same < len(operands) && operands[same].Volume == operands[0].Volume {
			same++
		}
		err := operands[0].Update(ctx, s, create, func(tx *folio.Tx) error { return each(ctx, tx, operands[:same], fn) })
		if err != nil {
			return err
		}
		operands = operands[same:]
	}
	return nil
}

func each(ctx context.Context, tx *folio.Tx, operands []Operand, fn func(tx *folio.Tx, o *Operand) error) error {
	for i := range operands {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(tx, &operands[i]); err != nil {
			return err
		}
	}
	return nil
}
