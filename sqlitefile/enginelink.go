package sqlitefile

import "github.com/foliofs/folio/internal/enginelink"

// These functions are for package store/native. They are not part of the API.
func init() {
	enginelink.Pin = func(db any, n int64) error { return db.(*DB).pin(n) }
	enginelink.Unpin = func(db any, n int64) error { return db.(*DB).unpin(n) }
	enginelink.Pinned = func(db any, n int64) (bool, error) { return db.(*DB).pinned(n) }
	enginelink.Epoch = func(tx any) uint64 { return tx.(*Tx).epoch() }
	enginelink.FirstColumns = func(table any, n int) {
		t := table.(*TableWriter)
		*t = t.firstColumns(n)
	}
}

func (db *DB) pin(n int64) error { return db.pager.Pin(n) }

func (db *DB) unpin(n int64) error { return db.pager.Unpin(n) }

func (db *DB) pinned(n int64) (bool, error) { return db.pager.Pinned(n) }

func (tx *Tx) epoch() uint64 { return tx.pages.Epoch() }
