package volumetest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"testing/fstest"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
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
	"Overlay.Open": {reads, func(s *faultScene, _ context.Context) error {
		return withOverlay(s.v, func(o *folio.Overlay) error {
			f, err := o.Open("d/f")
			if err != nil {
				return err
			}
			return cmp.Or(rightFile(io.ReadAll(f)), f.Close())
		})
	}},
	"Overlay.OpenRoot": {reads, func(s *faultScene, _ context.Context) error {
		return withOverlay(s.v, func(o *folio.Overlay) error {
			r, err := o.OpenRoot("d")
			if err != nil {
				return err
			}
			return cmp.Or(rightFile(r.ReadFile("f")), r.Close())
		})
	}},
	"Overlay.View": {reads | takesCtx, func(s *faultScene, ctx context.Context) error {
		return withOverlay(s.v, func(o *folio.Overlay) error {
			return o.View(ctx, func(rx *folio.Rx) error { return rightFile(rx.ReadFile("d/f")) })
		})
	}},
	"Overlay.Update": {writes | takesCtx, func(s *faultScene, ctx context.Context) error {
		return withOverlay(s.v, func(o *folio.Overlay) error {
			return o.Update(ctx, func(tx *folio.Tx) error { return tx.WriteFile(s.newName(), faultContent, 0o644) })
		})
	}},
	"Overlay.Sync": {writes | takesCtx, func(s *faultScene, ctx context.Context) error {
		return withOverlay(s.v, func(o *folio.Overlay) error { return o.Sync(ctx) })
	}},
	"Overlay.Close": {reads, func(s *faultScene, _ context.Context) error {
		return withOverlay(s.v, func(o *folio.Overlay) error { return o.Close() })
	}},
	"Overlay.Commit": {reads | takesCtx, func(s *faultScene, ctx context.Context) error {
		root, err := os.OpenRoot(s.TempDir())
		must.Do(s, err)
		defer root.Close()
		return withOverlay(s.v, func(o *folio.Overlay) error {
			if err := o.Commit(ctx, root); err != nil {
				return err
			}
			return rightFile(root.ReadFile("d/f"))
		})
	}},
	"Overlay.CommitTo": {writes | takesCtx, func(s *faultScene, ctx context.Context) error {
		changes, err := folio.OpenMemory(nil)
		if err != nil {
			return err
		}
		defer changes.Close()
		return withOverlay(changes, func(o *folio.Overlay) error {
			if err := o.WriteFile(s.newName(), faultContent, 0o644); err != nil {
				return err
			}
			return s.v.Update(ctx, func(tx *folio.Tx) error { return o.CommitTo(ctx, tx, ".") })
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
