package pager

import (
	"context"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// Watch begins to note which pages are written by transactions that are not marked as known. It is
// for one caller, who keeps something that was derived from the database elsewhere. For example,
// the kernel keeps names and contents of a file system that is mounted.
func (p *Pager) Watch(ctx context.Context) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	var rx Rx
	if err := p.Enter(ctx, &rx); err != nil {
		return err
	}
	defer rx.End()
	p.watched.Store(rx.Version)
	h, _ := format.ParseWALIndexHeader(&rx.words)
	p.readers.watch.Start(&h)
	return nil
}

// MarkKnown says that the caller of Watch knows all that this transaction changes. It is noted all
// the same if it is committed together with a transaction that is not marked.
func (tx *Tx) MarkKnown() { tx.known = true }

// WatchPending reports whether Watched would return something. It costs some nanoseconds.
func (p *Pager) WatchPending() (pending bool) {
	var err error
	defer osfile.Catch(osfile.Arm(), &err)
	p.readers.mu.Lock()
	defer p.readers.mu.Unlock()
	pending = true // unless the index says otherwise
	if p.readers.wal != nil && p.readers.wal.Access == wal.AccessShared && !p.readers.closed {
		pending = p.readers.watch.Pending(p.readers.wal.Index)
	}
	return pending
}

// Watched begins a transaction in rx, as Begin does, and returns the pages that were noted since
// the last call, up to the snapshot of rx. If all is set, any page may have changed.
func (p *Pager) Watched(ctx context.Context, rx *Rx) (pages []uint32, all bool, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	for {
		if err := p.Enter(ctx, rx); err != nil {
			return nil, true, err
		}
		var ok bool
		if rx.wal == nil || rx.wal.Access != wal.AccessShared {
			all = p.readers.watch.TakeAll()
			return nil, p.watched.Swap(rx.Version) != rx.Version || all, nil
		}
		if pages, all, ok = p.readers.watch.Take(rx.wal.Index, &rx.words); ok {
			p.watched.Store(rx.Version)
			return pages, all, nil
		}
		rx.End() // another transaction was committed meanwhile
	}
}
