package sqlitefile

import "encoding/binary"

// Offsets in the header of the numbers that belong to the application.
const (
	headUserVersion   = 60
	headApplicationID = 68
)

// UserVersion returns the number that PRAGMA user_version tells: a number that the application
// keeps in the header, 0 at first.
func (rx *Rx) UserVersion() int32 { return rx.pager.Header.UserVersion }

// ApplicationID returns the number that PRAGMA application_id tells: a number that says which
// application a database belongs to, 0 at first.
func (rx *Rx) ApplicationID() uint32 { return rx.pager.Header.ApplicationID }

// SetUserVersion changes the number that UserVersion returns, as part of the transaction.
func (tx *Tx) SetUserVersion(v int32) error {
	if err := tx.setCookie(headUserVersion, uint32(v)); err != nil {
		return err
	}
	tx.pager.Header.UserVersion = v
	return nil
}

// SetApplicationID changes the number that ApplicationID returns, as part of the transaction.
func (tx *Tx) SetApplicationID(id uint32) error {
	if err := tx.setCookie(headApplicationID, id); err != nil {
		return err
	}
	tx.pager.Header.ApplicationID = id
	return nil
}

// setCookie puts a number into the header.
func (tx *Tx) setCookie(off int, v uint32) error {
	if tx.pager.Over {
		return tx.db.pager.PathError("write", ErrClosed)
	}
	if err := tx.pages.BeginChange(); err != nil {
		return err
	}
	page1, err := tx.pages.Pages().Writable(1)
	if err != nil {
		return err
	}
	if binary.BigEndian.Uint32(page1[off:]) != v {
		binary.BigEndian.PutUint32(page1[off:], v)
	}
	return nil
}
