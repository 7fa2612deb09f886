package pager

import (
	"errors"

	"github.com/foliofs/folio/internal/dberr"
)

// A Savepoint is a place in a transaction to go back to.
type Savepoint struct {
	tx *Tx
	at *savepoint
}

// SetSavepoint sets s in the transaction.
func (tx *Tx) SetSavepoint(s *Savepoint) error {
	if tx.Over {
		return tx.core.PathError("savepoint", dberr.ErrClosed)
	}
	*s = Savepoint{tx, new(savepoint)}
	tx.push(s.at, nil)
	return nil
}

// Rollback takes back everything that was done since the savepoint, which stays; those set after it
// end. It returns an error that matches ErrClosed if the savepoint has ended.
func (s *Savepoint) Rollback() error {
	if err := s.reach("rollback"); err != nil {
		return err
	}
	s.tx.restoreTo(s.at)
	s.at = new(savepoint)
	s.tx.push(s.at, nil)
	return nil
}

// Release ends the savepoint, and those set after it: everything that was done since then becomes a
// part of the transaction, or of the savepoint, around it. It returns an error, and the savepoint
// stays, if something went wrong in the middle of a change since then. It returns an error that
// matches ErrClosed if the savepoint has ended.
func (s *Savepoint) Release() error {
	if err := s.reach("release"); err != nil {
		return err
	}
	if err := s.tx.releaseTo(s.at); err != nil {
		return err
	}
	s.tx.release(s.at)
	return nil
}

// reach returns the reason why the savepoint cannot be reached: it has ended, or the function of
// Nested, which began after it, has not.
func (s *Savepoint) reach(op string) error {
	err := dberr.ErrClosed
	if !s.tx.Over {
		for at := s.tx.level; at != nil; at = at.outer {
			if at == s.at {
				return nil
			}
			if at.scoped {
				err = errors.New("the function of Nested has not returned")
				break
			}
		}
	}
	return s.tx.core.PathError(op, err)
}
