package volumetest

import (
	"cmp"
	"context"
	"errors"
	"testing/fstest"

	"github.com/foliofs/folio"
)

// overlayFaults are the calls of overlays. The volume of the scene keeps their changes.
var overlayFaults = map[string]struct {
	answer
	run func(s *faultScene, ctx context.Context) error
}{
	"NewOverlay": {reads, func(s *faultScene, _ context.Context) error {
		return withOverlay(s.v, func(*folio.Overlay) error { return nil })
	}},
	"Overlay.Diff": {reads | takesCtx, func(s *faultScene, ctx context.Context) error {
		return withOverlay(s.v, func(o *folio.Overlay) error {
			n := 0
			for _, err := range o.Diff(ctx) {
				if err != nil {
					return err
				}
				n++
			}
			return wrongUnless(n > faultFiles, nil)
		})
	}},
	"Overlay.Discard": {writes | takesCtx, func(s *faultScene, ctx context.Context) error {
		return withOverlay(s.v, func(o *folio.Overlay) error { return o.Discard(ctx) })
	}},
	"CommitOverlay": {writes | takesCtx, func(s *faultScene, ctx context.Context) error {
		changes, err := folio.OpenMemory(nil)
		if err != nil {
			return err
		}
		defer changes.Close()
		return withOverlay(changes, func(o *folio.Overlay) error {
			if err := o.WriteFile(s.newName(), faultContent, 0o644); err != nil {
				return err
			}
			return s.v.Update(ctx, func(tx *folio.Tx) error { return folio.CommitOverlay(ctx, o, tx) })
		})
	}},
	"ConflictError.Error": {ofItself, func(*faultScene, context.Context) error {
		e := &folio.ConflictError{Conflicts: []folio.Conflict{{Path: "f", What: "was made"}}}
		return wrongUnless(e.Error() == "the base has changed: f was made", nil)
	}},
	"ConflictError.Is": {ofItself, func(*faultScene, context.Context) error {
		return wrongUnless(errors.Is(&folio.ConflictError{}, folio.ErrConflict), nil)
	}},
}

// withOverlay calls fn with an overlay over a small base.
func withOverlay(changes *folio.Volume, fn func(o *folio.Overlay) error) error {
	o, err := folio.NewOverlay(fstest.MapFS{"base": {Data: []byte("content")}}, changes, nil)
	if err != nil {
		return err
	}
	err = fn(o)
	return cmp.Or(err, o.Close())
}
