package sqlitefile

import "errors"

// A Savepoint is a place in a transaction to go back to, as SAVEPOINT in SQL. Savepoints stack: one
// that was set later ends together with an earlier one. All end with the transaction, or when the
// function of Nested returns in which they were set.
type Savepoint struct {
	tx *Tx
	at *savepoint
}

// Savepoint sets a savepoint. Code that fits into a function uses [Tx.Nested].
func (tx *Tx) Savepoint() (*Savepoint, error) {
	if tx.over {
		return nil, tx.db.pathError("savepoint", ErrClosed)
	}
	s := &Savepoint{tx, new(savepoint)}
	tx.push(s.at, nil)
	return s, nil
}

// Rollback takes back everything that was done since the savepoint, as ROLLBACK TO does: the
// savepoint stays, and those set after it end. What was read since then must not be used any more,
// and what came from Tx.Table before must be asked for again if the schema had changed. It returns
// an error that matches [ErrClosed] if the savepoint has ended.
func (s *Savepoint) Rollback() error {
	if err := s.reach("rollback"); err != nil {
		return err
	}
	s.tx.restoreTo(s.at)
	s.at = new(savepoint)
	s.tx.push(s.at, nil)
	return nil
}

// Release ends the savepoint, and those set after it: what was done since then is a part of what is
// around it, as RELEASE does. It returns an error, and the savepoint stays, if something went wrong
// in the middle of a change since then: there is only the way back. It returns an error that
// matches [ErrClosed] if the savepoint has ended.
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
	err := ErrClosed
	if !s.tx.over {
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
	return s.tx.db.pathError(op, err)
}

// releaseTo makes the savepoints that were set after s a part of it, unless one of them, or s
// itself, is spoiled.
func (tx *Tx) releaseTo(s *savepoint) error {
	for at := tx.level; ; at = at.outer {
		if at.spoiled != nil {
			return at.spoiled
		}
		if at == s {
			break
		}
	}
	for tx.level != s {
		tx.release(tx.level)
	}
	return nil
}

// restoreTo goes back to s, and s is over.
func (tx *Tx) restoreTo(s *savepoint) {
	for tx.level != s {
		tx.restore(tx.level)
	}
	tx.restore(s)
}
