package native

import (
	"context"
	"errors"

	"github.com/foliofs/folio/store"
)

// Repair implements store.Maintainer.
func (s *Store) Repair(ctx context.Context) (*store.RepairReport, error) { return nil, errors.ErrUnsupported }
