package folio

import (
	"context"
	"iter"

	"github.com/foliofs/folio/internal/store/overlay"
)

// Diff yields what differs between the base and the overlay, in the order of a walk. A directory
// that was removed is one change, and so is one that was moved. What lies in a directory that was
// made is yielded, too. A file that was replaced by one of another type is yielded twice, first as
// removed. Contents are compared: a file that was written to and is the same again has not changed,
// except for its time of modification. Times of directories do not count.
func (o *Overlay) Diff(ctx context.Context) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		err := o.View(ctx, func(rx *Rx) error {
			for c, err := range o.over.Diff(ctx, rx.rx) {
				if err != nil {
					return err
				}
				if !yield(publicChange(&c), nil) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(Change{}, o.volumeError("diff", err))
		}
	}
}

// publicChange returns a change as this package tells it.
func publicChange(c *overlay.Change) Change {
	return Change{Kind: ChangeKind(c.Kind), Path: c.Path, OldPath: c.Old, Ino: uint64(c.Ino), Type: fileMode(c.Mode).Type()}
}

var _ = [1]struct{}{}[AttributesChanged-ChangeKind(overlay.Attributes)] // the kinds have one order
