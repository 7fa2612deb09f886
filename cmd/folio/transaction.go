package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/foliofs/folio"
)

const (
	createsOne  = "--create makes an empty one first"
	notWritable = "its file, and the directory that it lies in, must be writable"
)

// openFor opens the volume for a command that changes it. create is the value of the command's
// createFlag, nil if it has none.
func (l location) openFor(create *bool) (*folio.Volume, error) {
	if create == nil {
		return l.open()
	}
	v, err := folio.Open(l.volume, &folio.Options{Create: *create})
	if errors.Is(err, fs.ErrNotExist) && !*create {
		err = rehint(&fs.PathError{Path: l.volume, Err: errNoVolume}, createsOne)
	}
	return v, l.openFailure(err)
}

// update calls fn with a transaction on the volume that openFor opens. Errors of fn stay as they
// are. Any other error names the volume.
func (l location) update(ctx context.Context, s *streams, create *bool, fn func(tx *folio.Tx) error) error {
	v, err := l.openFor(create)
	if err != nil {
		return err
	}
	var own error
	err = v.Update(ctx, func(tx *folio.Tx) error {
		own = fn(tx)
		return own
	})
	if closed := closeVolume(s, v); err == nil {
		err = closed
	}
	return s.tell(l.updateFailure(ctx, own, err))
}

// closeVolume closes a volume that was written to. If its log had to stay next to it, that is only
// a warning, because all changes are committed.
func closeVolume(s *streams, v *folio.Volume) error {
	err := v.Close()
	if errors.Is(err, folio.ErrLogLeft) {
		s.warn(err)
		return nil
	}
	return err
}

func (l location) updateFailure(ctx context.Context, own, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case own == nil:
		err = failure(l.volume, err)
	}
	switch {
	case errors.Is(err, folio.ErrFull):
		return hint(err, nothingChanged)
	case errors.Is(err, folio.ErrReadOnly):
		return l.readOnly(err)
	}
	return err
}

// readOnly says why a volume cannot be written to, and how to get past that.
func (l location) readOnly(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path == l.volume && e.Err != folio.ErrReadOnly {
		return err // which says so itself
	}
	return hint(failure(l.volume, folio.ErrReadOnly), notWritable)
}

// change calls fn for each operand, in one transaction for each run of operands in a volume. An
// error of one leaves the volume as it was.
func change(ctx context.Context, s *streams, args []string, create *bool, fn func(tx *folio.Tx, o *operand) error) error {
	operands := operandsOf(args)
	for len(operands) > 0 {
		same := 1
		for same < len(operands) && operands[same].volume == operands[0].volume {
			same++
		}
		err := operands[0].update(ctx, s, create, func(tx *folio.Tx) error { return each(ctx, tx, operands[:same], fn) })
		if err != nil {
			return err
		}
		operands = operands[same:]
	}
	return nil
}

func each(ctx context.Context, tx *folio.Tx, operands []operand, fn func(tx *folio.Tx, o *operand) error) error {
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
