package native

import (
	"context"
	"errors"

	"github.com/foliofs/folio/store"
)

func (s *Store) Check(ctx context.Context) (*store.Report, error) { return nil, errors.ErrUnsupported }
