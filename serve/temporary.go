package serve

import (
	"context"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/posix"
)

const writeOnly = posix.WriteOnly

// newTemporary makes an empty file for an upload, which no request reaches.
func (p *place) newTemporary(ctx context.Context) (name string, err error) {
	name = p.tree.own(uploadDir, newID())
	err = p.vol.Update(ctx, func(tx *folio.Tx) error {
		if err := tx.MkdirAll(p.tree.own(uploadDir), 0o700); err != nil {
			return err
		}
		f, err := tx.OpenFile(name, posix.WriteOnly|posix.Create|posix.Exclusive, 0o600)
		if err != nil {
			return err
		}
		return f.Close()
	})
	return name, err
}

// discard removes a temporary file, if there is one. sweep removes a file that could not be removed
// here.
func (p *place) discard(temp string) {
	if temp != "" {
		_ = p.vol.Remove(temp)
	}
}
