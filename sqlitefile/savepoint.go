package sqlitefile

import "github.com/foliofs/folio/internal/pager"

// A Savepoint is a place in a transaction to go back to, as SAVEPOINT in SQL. Savepoints stack: one
// that was set later ends together with an earlier one. All end with the transaction, or when the
// function of Nested returns in which they were set.
type Savepoint struct {
	tx       *Tx
	at       pager.Savepoint
	deferred int // checks of the transaction at its start
}

// Savepoint sets a savepoint. Code that fits into a function uses [Tx.Nested].
func (tx *Tx) Savepoint() (*Savepoint, error) {
	s := &Savepoint{tx: tx, deferred: len(tx.deferred)}
	if err := tx.pages.SetSavepoint(&s.at); err != nil {
		return nil, err
	}
	return s, nil
}

// Rollback takes back everything that was done since the savepoint, as ROLLBACK TO does: the
// savepoint stays, and those set after it end. Rows that were read since then must not be used any
// more, and tables from Tx.Table must be asked for again if the schema had changed. It returns
// an error that matches [ErrClosed] if the savepoint has ended.
func (s *Savepoint) Rollback() error {
	if err := s.at.Rollback(); err != nil {
		return err
	}
	s.tx.deferred = s.tx.deferred[:s.deferred]
	return nil
}

// Release ends the savepoint, and those set after it: everything that was done since then becomes a
// part of the transaction, or of the savepoint, around it, as RELEASE does. It returns an error,
// and the savepoint stays, if something went wrong in the middle of a change since then: there is
// only the way back. It returns an error that matches [ErrClosed] if the savepoint has ended.
func (s *Savepoint) Release() error { return s.at.Release() }
