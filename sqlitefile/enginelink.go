package sqlitefile

import (
	"context"

	"github.com/foliofs/folio/internal/enginelink"
)

// These functions are for package store/native. They are not part of the API.
func init() {
	enginelink.Pin = func(db any, n int64) error { return db.(*DB).pin(n) }
	enginelink.Unpin = func(db any, n int64) error { return db.(*DB).unpin(n) }
	enginelink.Pinned = func(db any, n int64) (bool, error) { return db.(*DB).pinned(n) }
	enginelink.BatchOnThread = func(ctx context.Context, db any, fn func(tx any) error) error {
		return db.(*DB).batch(ctx, func(tx *Tx) error { return fn(tx) }, true)
	}
	enginelink.Epoch = func(tx any) uint64 { return tx.(*Tx).epoch() }
	enginelink.KnownTriggers = func(db any, known func(sql string) bool) { db.(*DB).knownTrigger = known }
	enginelink.Watch = func(db any) error { return db.(*DB).pager.Watch(context.Background()) }
	enginelink.WatchPending = func(db any) bool { return db.(*DB).pager.WatchPending() }
	enginelink.Watched = func(db any) (any, []uint32, bool, error) { return db.(*DB).watched(context.Background()) }
	enginelink.MarkKnown = func(tx any) { tx.(*Tx).pages.MarkKnown() }
	enginelink.SpanOf = func(table any, pgno uint32) (enginelink.PageSpan, bool, error) { return table.(Table).spanOf(pgno) }
	enginelink.OverflowPages = func(table any, rowid, size int64, fn func(first uint32, n int)) error {
		return table.(Table).overflowPages(rowid, size, fn)
	}
	enginelink.Replaced = func(db any) bool { return db.(*DB).pager.Replaced() }
	enginelink.FirstColumns = func(table any, n int) {
		t := table.(*TableWriter)
		*t = t.firstColumns(n)
	}
}

func (db *DB) pin(n int64) error { return db.pager.Pin(n) }

func (db *DB) unpin(n int64) error { return db.pager.Unpin(n) }

func (db *DB) pinned(n int64) (bool, error) { return db.pager.Pinned(n) }

func (tx *Tx) epoch() uint64 { return tx.pages.Epoch() }
