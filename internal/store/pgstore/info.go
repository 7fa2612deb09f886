package pgstore

import (
	"context"

	"github.com/foliofs/folio/internal/store"
)

// Version implements store.Store. Only the server can tell whether another Store has changed the
// volume.
func (s *Store) Version() (version uint64, ok bool) { return 0, false }

// Features implements store.Store.
func (s *Store) Features() store.Features {
	return store.Features{
		Batcher: s, Walker: s, Recaller: s, Objects: s,
		PartSize: s.partSize(), Opened: s.opened, MaxStaleness: s.recent.most,
	}
}

// Address returns the address of the volume as errors show it, without a password.
func (s *Store) Address() string { return s.address }

// Info describes the volume.
func (s *Store) Info(ctx context.Context) (store.Info, error) {
	if err := s.gate.Enter(); err != nil {
		return store.Info{}, err
	}
	defer s.gate.Leave()
	info := store.Info{Path: s.address, Version: latest(), ChunkSize: store.ChunkSize}
	var last int64
	query := s.schema.in(`SELECT coalesce((SELECT max(ino) FROM @node), 0), current_setting('block_size')::bigint,
  (SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class AS c WHERE c.relnamespace = '`) + string(s.schema) + `'::regnamespace AND c.relkind = 'r')`
	err := s.repeat(ctx, func() error { return s.pool.QueryRow(ctx, query).Scan(&last, &info.PageSize, &info.Size) })
	info.LastIno = store.Ino(last)
	return info, explain(err)
}
